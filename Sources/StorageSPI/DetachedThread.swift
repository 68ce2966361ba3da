internal import Glibc

/// Threads that no task waits for, for helpers of engines that work in the background.
public enum DetachedThread {
  /// Starts a thread that does `work` and then ends.
  ///
  /// - Returns: `false` where no thread could be started; `work` is not done then.
  public static func start(_ work: @escaping @Sendable () -> Void) -> Bool {
    let context = Unmanaged.passRetained(Work(work))
    var (thread, attributes) = (pthread_t(), pthread_attr_t())
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    // Detached from the start: the thread may end while `pthread_detach` still reads what is freed with it (glibc 2.36).
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    guard pthread_create(&thread, &attributes, { DetachedThread.enter($0) }, context.toOpaque()) == 0 else {
      context.release()
      return false
    }
    return true
  }

  private static func enter(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let context { Unmanaged<Work>.fromOpaque(context).takeRetainedValue().perform() }
    return nil
  }

  private final class Work: Sendable {
    let perform: @Sendable () -> Void

    init(_ perform: @escaping @Sendable () -> Void) { self.perform = perform }
  }
}
