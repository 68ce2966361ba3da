internal import Synchronization

/// Work that goes on after the answer was given, such as bringing a stale entry up to date. Whoever owns the store waits
/// for it to end before the store is closed.
public final class BackgroundWork: Sendable {
  /// Work under way. An array of tasks would have the runtime make their type also where there is no work.
  private final class Work: Sendable {
    let task: Task<Void, Never>

    init(_ work: @escaping @Sendable () async -> Void) {
      task = Task { await work() }
    }
  }

  private let underWay = Mutex<[Work]>([])

  /// No work yet.
  public init() {}

  /// Begins to do `work`, whose failures concern nobody any more.
  func start(_ work: @escaping @Sendable () async -> Void) {
    let work = Work(work)
    underWay.withLock { $0.append(work) }
  }

  /// Waits until all that was begun has ended, and stops it where the calling task is cancelled.
  public func finish() async {
    while let work = underWay.withLock({ $0.popLast() }) {
      await withTaskCancellationHandler {
        await work.task.value
      } onCancel: {
        work.task.cancel()
      }
    }
  }
}
