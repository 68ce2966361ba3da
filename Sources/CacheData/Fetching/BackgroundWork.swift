internal import Synchronization

/// Work that goes on after the answer was given, such as bringing a stale entry up to date. Whoever owns the store waits
/// for it to end before the store is closed.
public final class BackgroundWork: Sendable {
  private let tasks = Mutex<[Task<Void, Never>]>([])

  /// No work yet.
  public init() {}

  /// Begins to do `work`, whose failures concern nobody any more.
  func start(_ work: @escaping @Sendable () async -> Void) {
    let task = Task { await work() }
    tasks.withLock { $0.append(task) }
  }

  /// Waits until all that was begun has ended, and stops it where the calling task is cancelled.
  public func finish() async {
    while let task = tasks.withLock({ $0.popLast() }) {
      await withTaskCancellationHandler {
        await task.value
      } onCancel: {
        task.cancel()
      }
    }
  }
}
