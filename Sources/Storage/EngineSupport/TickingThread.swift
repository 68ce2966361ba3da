internal import Glibc
internal import Synchronization

/// A thread that ticks at an interval while it has work, and otherwise waits without waking up.
///
/// It starts with the first `wake()` and ends after `stop()`.
///
/// `@unchecked Sendable`: a POSIX mutex, whose address does not change, guards the state.
final class TickingThread: @unchecked Sendable {
  private let interval: Duration
  private let tick: @Sendable () -> Bool
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var hasThread = false
  /// Whether the thread waits without a time limit.
  private var isParked = false
  private var isWanted = false
  private var isStopped = false

  /// - Parameter tick: the work to do; returns whether to do it again after the interval.
  init(interval: Duration, tick: @escaping @Sendable () -> Bool) {
    self.interval = interval
    self.tick = tick
    pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  /// Schedules a tick one interval from now. If one is scheduled already, the call costs only a lock.
  ///
  /// - Returns: `false` if no thread could be started.
  func wake() -> Bool {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    if !hasThread { hasThread = DetachedThread.start { self.run() } }
    isWanted = hasThread
    if isParked { pthread_cond_signal(condition) }
    return hasThread
  }

  /// Ends the thread, after the tick that is running.
  func stop() {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    isStopped = true
    pthread_cond_signal(condition)
  }

  private func run() {
    while waitUntilDue() {
      guard tick() else { continue }
      pthread_mutex_lock(mutex)
      isWanted = true
      pthread_mutex_unlock(mutex)
    }
  }

  /// Waits until there is work, and then for the interval.
  ///
  /// - Returns: `false` after `stop()`.
  private func waitUntilDue() -> Bool {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    isParked = true
    while !isWanted, !isStopped { pthread_cond_wait(condition, mutex) }
    isParked = false
    var end = deadline()
    while !isStopped, pthread_cond_timedwait(condition, mutex, &end) != ETIMEDOUT {}
    isWanted = false  // Before the work, so that a wake-up during the work counts.
    return !isStopped
  }

  private func deadline() -> timespec {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    let (seconds, attoseconds) = interval.components
    let nanoseconds = now.tv_nsec + Int(attoseconds / 1_000_000_000)
    return timespec(
      tv_sec: now.tv_sec + Int(seconds) + nanoseconds / 1_000_000_000, tv_nsec: nanoseconds % 1_000_000_000)
  }
}
