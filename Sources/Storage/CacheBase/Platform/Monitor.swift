/// A lock, and the means to wait for what other threads do under it.
///
/// `@unchecked Sendable`: the pointers are set once, and any thread may call the functions of POSIX mutexes and
/// conditions.
public final class Monitor: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  /// A monitor that no thread holds.
  public init() {
    mutex.initialize(to: pthread_mutex_t())
    condition.initialize(to: pthread_cond_t())
    pthread_mutex_init(mutex, nil)
    #if canImport(Darwin)
      // There a limit is a duration, which no change of the clock concerns.
      pthread_cond_init(condition, nil)
    #else
      var attributes = pthread_condattr_t()
      pthread_condattr_init(&attributes)
      pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
      pthread_cond_init(condition, &attributes)
      pthread_condattr_destroy(&attributes)
    #endif
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  /// Calls `body` while no other thread is in this function. `body` must not call it again.
  public func withLock<Output>(_ body: () -> Output) -> Output {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body()
  }

  /// Wakes a thread that waits. Call it within `withLock`.
  public func signal() { pthread_cond_signal(condition) }

  /// Wakes all threads that wait. Call it within `withLock`.
  public func signalAll() { pthread_cond_broadcast(condition) }

  /// Lets other threads have the lock until one of them calls `signal` or `signalAll`, or for no reason: check again what you wait
  /// for. Call it within `withLock`.
  public func wait() { pthread_cond_wait(condition, mutex) }

  /// Waits as `wait()` does, until `deadline` at the latest.
  ///
  /// - Returns: `false` once the deadline has passed.
  public func wait(until deadline: timespec) -> Bool {
    var limit = deadline
    #if canImport(Darwin)
      let now = Self.now
      limit.tv_sec -= now.tv_sec
      limit.tv_nsec -= now.tv_nsec
      if limit.tv_nsec < 0 { (limit.tv_sec, limit.tv_nsec) = (limit.tv_sec - 1, limit.tv_nsec + 1_000_000_000) }
      if limit.tv_sec < 0 { return false }
      return pthread_cond_timedwait_relative_np(condition, mutex, &limit) != ETIMEDOUT
    #else
      return pthread_cond_timedwait(condition, mutex, &limit) != ETIMEDOUT
    #endif
  }

  /// The time `duration` from now, for `wait(until:)`.
  public static func deadline(after duration: Duration) -> timespec {
    let (now, (seconds, attoseconds)) = (now, duration.components)
    let nanoseconds = now.tv_nsec + Int(attoseconds / 1_000_000_000)
    return timespec(
      tv_sec: now.tv_sec + time_t(seconds) + nanoseconds / 1_000_000_000, tv_nsec: nanoseconds % 1_000_000_000)
  }

  private static var now: timespec {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return now
  }
}
