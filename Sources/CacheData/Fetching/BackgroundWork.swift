public import CacheDomain
internal import Synchronization

/// Work that goes on after the answer was given, such as bringing a stale entry up to date. Whoever owns the store waits
/// for it to end before the store is closed.
public final class BackgroundWork: Sendable {
  /// Work under way. An array of tasks would have the runtime make their type also where there is no work.
  private final class Work: Sendable {
    let task: Task<CacheError?, Never>

    init(_ work: @escaping @Sendable () async -> CacheError?) {
      task = Task { await work() }
    }
  }

  private let underWay = Mutex<[Work]>([])

  /// No work yet.
  public init() {}

  /// Begins to do `work`, which returns the failure that the user has to know of.
  func start(_ work: @escaping @Sendable () async -> CacheError?) {
    let work = Work(work)
    underWay.withLock { $0.append(work) }
  }

  /// Waits until all that was begun has ended, and stops it where the calling task is cancelled.
  ///
  /// - Returns: the failures of the cache to keep what was fetched.
  @discardableResult
  public func finish() async -> [CacheError] {
    var failures: [CacheError] = []
    while let work = underWay.withLock({ $0.popLast() }) {
      let failure = await withTaskCancellationHandler {
        await work.task.value
      } onCancel: {
        work.task.cancel()
      }
      if let failure { failures.append(failure) }
    }
    return failures
  }
}
