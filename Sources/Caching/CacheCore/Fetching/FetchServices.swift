/// Which fetches of the same thing share one request if they run at the same time.
public enum SingleFlight: Sendable, Hashable, CaseIterable {
  /// The fetches of all processes that use the store, on an engine that processes can share. A miss costs one more commit,
  /// which stores a lease for other processes to see: that doubles the time of a miss whose closure is cheap.
  case acrossProcesses
  /// The fetches of this process. Another process does not see them: if it changes the entry meanwhile, the response of a
  /// fetch from before the change is stored all the same.
  case withinProcess
  /// None: each fetch makes its own request. Other processes do not see it either.
  case off
}

/// The services that all fetches share.
public struct FetchServices: Sendable {
  /// Decides what can be stored and reused.
  public var rules: HTTPCacheRules
  /// The current time, since 1970-01-01T00:00:00Z.
  public let now: @Sendable () -> Duration
  /// Makes concurrent fetches of one key send one request. It is that of the store in which they look.
  public let coalescer: RequestCoalescer
  /// Which fetches share a request.
  public var singleFlight = SingleFlight.acrossProcesses
  /// Runs work that no caller waits for.
  public let background: BackgroundWork
  /// Receives an explanation of each snapshot; `nil` if none is wanted.
  public let observe: (@Sendable (FetchExplanation) -> Void)?

  /// Creates services; by default requests are coalesced within this process, and for a storage that is not an
  /// `EntryStore`.
  public init(
    rules: HTTPCacheRules, now: @escaping @Sendable () -> Duration, coalescer: RequestCoalescer = RequestCoalescer(),
    background: BackgroundWork = BackgroundWork(), observe: (@Sendable (FetchExplanation) -> Void)? = nil
  ) {
    self.rules = rules
    self.now = now
    self.coalescer = coalescer
    self.background = background
    self.observe = observe
  }
}

/// Work that continues after the caller has its response, such as revalidating a stale entry. The owner of the store
/// calls `finish()` before closing it.
public final class BackgroundWork: Sendable {
  /// A task under way. A dictionary of tasks would make the runtime build their type even if there is no work.
  private final class Work: Sendable {
    let task: Task<Void, Never>

    init(_ work: @escaping @Sendable () async -> Void) {
      task = Task { await work() }
    }
  }

  private struct State {
    var underWay: [String: Work] = [:]
    var failures: [CacheError] = []
    /// Whether work was left behind, whose failures concern no caller any more.
    var isAbandoned = false
  }

  private let state = TaskMonitor(State())
  private let warn: (@Sendable (CacheWarning) -> Void)?

  /// Creates an empty set of work.
  ///
  /// - Parameter warn: called with each failure that keeps the cache from storing what it fetched, as soon as it occurs;
  ///   with `nil` they wait for `finish()`.
  public init(warn: (@Sendable (CacheWarning) -> Void)? = nil) { self.warn = warn }

  /// Whether a response could not be stored, which `finish()` will report.
  package var hasFailed: Bool { state.withLock { !$0.failures.isEmpty } }

  /// The number of pieces of work under way.
  package var count: Int { state.withLock { $0.underWay.count } }

  /// Starts `work`, which returns a failure the user must know of, or `nil`. Does nothing while work called `name` is
  /// under way: callers that get the same stale entry need one revalidation.
  package func start(_ name: String, _ work: @escaping @Sendable () async -> CacheWarning?) {
    state.withLock { state in
      guard state.underWay[name] == nil else { return }
      // The work ends under the same lock, so it is in the table by then.
      // It waits for no request that the current task makes, and no such request waits for it.
      state.underWay[name] = CoalescingToken.led.withValue([]) { Work { [self] in end(name, await work()) } }
    }
  }

  /// Adds a task that is already running. Adding it twice changes nothing.
  func add(_ task: Task<Void, Never>) {
    start("task \(task.hashValue)") {
      await withTaskCancellationHandler {
        await task.value
      } onCancel: {
        task.cancel()
      }
      return nil
    }
  }

  /// Reports `warning`, whose failure kept the cache from storing a response that its caller already has. A conflict is not a
  /// failure of the cache: `finish()` returns it, and it causes no warning.
  func report(_ warning: CacheWarning) {
    let isOpen = state.withLock { state in
      if warn == nil, !state.isAbandoned { state.failures.append(warning.error) }
      return !state.isAbandoned
    }
    if isOpen, warning.error.code != .conflict { warn?(warning) }
  }

  private func end(_ name: String, _ warning: CacheWarning?) {
    if let warning { report(warning) }
    state.withLock { $0.underWay[name] = nil }
    state.signalAll()
  }

  /// Waits until all the work has ended, whatever becomes of the calling task.
  package func settled() async { await state.waitAlways { $0.underWay.isEmpty } }

  /// Waits until all the work has ended. If the calling task is cancelled, cancels the work too.
  ///
  /// - Parameter patience: how long to wait; `nil` for as long as it takes. Work that is not finished then is
  ///   cancelled, and its failures are dropped.
  /// - Returns: the errors that kept the cache from storing responses, unless `warn` got them.
  @discardableResult
  public func finish(within patience: Duration? = nil) async -> [CacheError] {
    let timer = patience.map { patience in
      Task { if (try? await Task.sleep(for: patience)) != nil { abandon() } }
    }
    await withTaskCancellationHandler {
      await settled()
    } onCancel: {
      for work in state.withLock({ Array($0.underWay.values) }) { work.task.cancel() }
    }
    timer?.cancel()
    return state.withLock { state in
      defer { state.failures = [] }
      return state.failures
    }
  }

  /// Cancels the work under way, and leaves it to itself.
  private func abandon() {
    let work = state.withLock { state in
      defer { state.underWay = [:] }
      state.isAbandoned = true
      return Array(state.underWay.values)
    }
    for work in work { work.task.cancel() }
    state.signalAll()
  }
}
