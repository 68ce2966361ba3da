/// A thread of the operating system.
///
/// `@unchecked Sendable`: the handle is set once, and any thread may compare handles, join and detach.
public struct SystemThread: @unchecked Sendable {
  /// The system refused a thread.
  public struct Refusal: Error {
    /// The reason, as in `errno`.
    public let number: Int32
  }

  private let handle: pthread_t

  /// The thread that runs now.
  public static var current: SystemThread { SystemThread(handle: pthread_self()) }

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
  /// - Throws: `Refusal`; `body` then does not run.
  public static func start(_ body: @escaping @Sendable () -> Void) throws(Refusal) -> SystemThread {
    guard let handle = try create(nil, body) else { throw Refusal(number: EAGAIN) }
    return SystemThread(handle: handle)
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
    return (try? create(&attributes, body)) != nil
  }

  /// Waits for the end of the thread.
  public func join() { pthread_join(handle, nil) }

  /// Has the system forget the thread when it ends.
  public func detach() { pthread_detach(handle) }

  private static func create(
    _ attributes: UnsafePointer<pthread_attr_t>?, _ body: @escaping @Sendable () -> Void
  ) throws(Refusal) -> pthread_t? {
    let work = Unmanaged.passRetained(Work(body))
    #if canImport(Glibc)
      var handle = pthread_t()
    #else
      var handle: pthread_t?
    #endif
    let number = pthread_create(&handle, attributes, { Work.perform($0) }, work.toOpaque())
    if number == 0 { return handle }
    work.release()
    throw Refusal(number: number)
  }

  private final class Work: Sendable {
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    static func perform(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
      if let context { Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body() }
      return nil
    }
  }
}
