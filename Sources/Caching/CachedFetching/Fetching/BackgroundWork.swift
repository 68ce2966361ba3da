public import FetchVocabulary
internal import Synchronization

/// Work that goes on after the caller has its answer, such as revalidating a stale entry. The owner of the store calls
/// `finish()` before closing it.
public final class BackgroundWork: Sendable {
  /// A task under way. An array of tasks would make the runtime build their type even if there is no work.
  private final class Work: Sendable {
    let task: Task<CacheError?, Never>

    init(_ work: @escaping @Sendable () async -> CacheError?) {
      task = Task { await work() }
    }
  }

  private let underWay = Mutex<[Work]>([])

  /// Creates an empty set of work.
  public init() {}

  /// Starts `work`, which returns a failure the user must know of, or `nil`.
  func start(_ work: @escaping @Sendable () async -> CacheError?) {
    let work = Work(work)
    underWay.withLock { $0.append(work) }
  }

  /// Waits until all the work has ended. If the calling task is cancelled, cancels the work too.
  ///
  /// - Returns: the errors that kept the cache from storing what it fetched.
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
