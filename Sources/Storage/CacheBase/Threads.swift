/// A lock, and the means to wait for what other threads do under it.
///
/// `@unchecked Sendable`: the pointers are set once, and any thread can call the functions of POSIX mutexes and
/// conditions.
public final class Monitor: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  /// A monitor that no thread holds.
  public init() {
    mutex.initialize(to: pthread_mutex_t())
    condition.initialize(to: pthread_cond_t())
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(condition, nil)
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
}

/// A thread of the operating system.
///
/// `@unchecked Sendable`: the handle is set once, and any thread can compare handles, join and detach.
public struct SystemThread: @unchecked Sendable {
  private let handle: pthread_t

  /// A number of the thread that runs now. Those of threads that run at the same time differ, as a rule also in their
  /// lowest bits: it counts the pages up to the thread's stack, and stacks are an odd number of pages apart.
  @inlinable @inline(__always)
  public static var number: Int {
    #if canImport(Glibc)
      return Int(bitPattern: pthread_self() >> 12)
    #else
      return Int(bitPattern: UInt(bitPattern: pthread_self()) >> 12)
    #endif
  }

  /// Whether this is the thread that runs now.
  public var isCurrent: Bool { pthread_equal(handle, pthread_self()) != 0 }

  /// Starts a thread that runs `body`. Call `join` or `detach` once: its memory stays until then.
  ///
  /// - Returns: `nil` if the system has no more threads (EAGAIN); `body` then does not run.
  public static func start(_ body: @escaping @Sendable () -> Void) -> SystemThread? {
    create(nil, body).map { SystemThread(handle: $0) }
  }

  /// Starts a thread that runs `body` and then ends.
  ///
  /// - Returns: `false` if no thread could be started; `body` then does not run.
  public static func startDetached(_ body: @escaping @Sendable () -> Void) -> Bool {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    // Created detached: with `pthread_detach` the thread could end first, and the call would read freed memory (glibc
    // 2.36).
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    return create(&attributes, body) != nil
  }

  /// Waits for the end of the thread.
  public func join() { pthread_join(handle, nil) }

  /// Has the system forget the thread when it ends.
  public func detach() { pthread_detach(handle) }

  private static func create(
    _ attributes: UnsafePointer<pthread_attr_t>?, _ body: @escaping @Sendable () -> Void
  ) -> pthread_t? {
    let work = Unmanaged.passRetained(Work(body: body))
    #if canImport(Glibc)
      var handle = pthread_t()
    #else
      var handle: pthread_t?
    #endif
    if pthread_create(&handle, attributes, { Work.perform($0) }, work.toOpaque()) == 0 { return handle }
    work.release()
    return nil
  }

  private final class Work: Sendable {
    private let body: @Sendable () -> Void

    init(body: @escaping @Sendable () -> Void) { self.body = body }

    static func perform(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
      if let context { Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body() }
      return nil
    }
  }
}
