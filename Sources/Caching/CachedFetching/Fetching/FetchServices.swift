public import FetchVocabulary
internal import Synchronization

/// The services that all fetches share.
public struct FetchServices: Sendable {
  /// Decides what may be stored and reused.
  public var rules: HTTPCacheRules
  /// The current time, since 1970-01-01T00:00:00Z.
  public let now: @Sendable () -> Duration
  /// Makes concurrent fetches of one key ask the origin once.
  public let flights: any FetchFlights
  /// Runs work that no caller waits for.
  public let background: BackgroundWork
  /// Receives an explanation of each snapshot; `nil` if none is wanted.
  public let observe: (@Sendable (FetchExplanation) -> Void)?

  /// Creates services; by default flights are shared within this process only.
  public init(
    rules: HTTPCacheRules, now: @escaping @Sendable () -> Duration, flights: any FetchFlights = LocalFlights(),
    background: BackgroundWork = BackgroundWork(), observe: (@Sendable (FetchExplanation) -> Void)? = nil
  ) {
    self.rules = rules
    self.now = now
    self.flights = flights
    self.background = background
    self.observe = observe
  }
}

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
