internal import EngineAPI

/// One request to an origin, from before it is sent until its response has been stored.
///
/// It belongs to all callers that wait for its response: it is cancelled when the last of them has gone. A change of
/// what it fetches makes it outdated: no further caller joins it, and its response is not stored.
public final class CoalescingToken: Sendable, Hashable {
  private struct State {
    /// The number of callers that wait for the response.
    var callers: Int
    var isOutdated = false
    var isStoring = false
    /// Cancels the request.
    var cancel: (@Sendable () -> Void)?
    /// The request's lease, its renewal, and the task that renews; `nil` if it has none.
    var lease: (key: CacheKey, renewal: LeaseRenewal, task: Task<Void, Never>)?
  }

  /// The key that the request fetches.
  let key: String
  /// Chooses the caller that reports the failures of the request.
  let report = SharedReport()
  private let state: TaskMonitor<State>

  /// Creates the token of a request for `key`, which `callers` wait for.
  init(key: String, callers: Int = 1) {
    self.key = key
    state = TaskMonitor(State(callers: callers))
  }

  /// The requests that the current task makes, the outermost first. Its other fetches must not wait for them.
  static let led = TaskLocal<[CoalescingToken]>(wrappedValue: [])

  /// Whether a change has made the response outdated.
  var isOutdated: Bool { state.withLock { $0.isOutdated } }

  /// Adds a caller; `false` if the request accepts no more.
  func enter() -> Bool {
    state.withLock { state in
      guard state.callers > 0, !state.isOutdated else { return false }
      state.callers += 1
      return true
    }
  }

  /// Removes a caller, and cancels the request if it was the last one. Returns whether others wait.
  @discardableResult
  func leave() -> Bool {
    let (others, cancel) = state.withLock { state in
      state.callers -= 1
      return (state.callers, state.cancel)
    }
    if others == 0 { cancel?() }
    return others > 0
  }

  /// Has `cancel` called once the last caller has gone.
  func whenLeft(_ cancel: @escaping @Sendable () -> Void) {
    let isLeft = state.withLock { state in
      state.cancel = cancel
      return state.callers == 0
    }
    if isLeft { cancel() }
  }

  /// Runs `store`, which stores the response. A change waits for it to end.
  ///
  /// - Throws: `CacheError`: what `store` throws; `conflict` if the response is outdated.
  func storing(_ store: () async throws(CacheError) -> Void) async throws(CacheError) {
    let isOutdated = state.withLock { state in
      state.isStoring = !state.isOutdated
      return state.isOutdated
    }
    if isOutdated {
      throw CacheError(.conflict, "\(key) was changed while it was fetched", hint: "fetch it again")
    }
    defer {
      state.withLock { $0.isStoring = false }
      state.signalAll()
    }
    try await store()
  }

  /// Makes the response outdated. If it is just being stored, waits until it is.
  func outdate() async {
    state.withLock { $0.isOutdated = true }
    await state.waitAlways { !$0.isStoring }
  }

  /// Holds the lease under `key`, which `task` renews until it is cancelled.
  func hold(_ key: CacheKey, _ renewal: LeaseRenewal, _ task: Task<Void, Never>) {
    state.withLock { $0.lease = (key, renewal, task) }
  }

  /// Ends the renewal of the lease, and returns the key and the version of its entry: it still holds for a while, as far as
  /// this process knows. The version is `nil` if it has been removed, or another process has taken it. `nil` if the request
  /// has no lease.
  func endRenewal() async -> (key: CacheKey, version: UInt64?)? {
    guard let lease = state.withLock({ $0.lease }) else { return nil }
    lease.task.cancel()
    return (lease.key, await lease.renewal.end())
  }

  /// Forgets the lease, which is no longer this process's.
  func forgetLease() { state.withLock { $0.lease = nil } }

  /// Whether both are the same request.
  public static func == (left: CoalescingToken, right: CoalescingToken) -> Bool { left === right }

  /// Hashes the identity of the request.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
