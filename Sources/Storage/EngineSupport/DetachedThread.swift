internal import Glibc

/// Detached threads for engine helpers that run in the background.
public enum DetachedThread {
  /// Starts a thread that runs `work` and then ends.
  ///
  /// - Returns: `false` if no thread could be started; `work` then does not run.
  public static func start(_ work: @escaping @Sendable () -> Void) -> Bool {
    let context = Unmanaged.passRetained(Work(work))
    var (thread, attributes) = (pthread_t(), pthread_attr_t())
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    // Created detached: with `pthread_detach` the thread could end first, and the call would read freed memory (glibc
    // 2.36).
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
