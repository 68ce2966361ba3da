internal import Platform

/// Detached threads for engine helpers that run in the background.
public enum DetachedThread {
  /// Starts a thread that runs `work` and then ends.
  ///
  /// - Returns: `false` if no thread could be started; `work` then does not run.
  public static func start(_ work: @escaping @Sendable () -> Void) -> Bool { SystemThread.startDetached(work) }
}
