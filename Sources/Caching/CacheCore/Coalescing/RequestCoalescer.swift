internal import EngineAPI
internal import Synchronization

/// Request coalescing, also called single flight: of all fetches of one key that run at the same time, one sends a request.
///
/// Within a process a table of the requests is enough. If several processes use a store, a lease in the store joins
/// them: one caller for each key and process tries to take it. The caller that gets it leads, and the lease is renewed
/// until the request has finished. In any other process one caller for each key looks at the lease, with growing pauses,
/// until the lease is gone.
///
/// The lease of a process that has crashed or been stopped ends by itself: at once if that is known of the process, otherwise
/// when it runs out. A store whose server drops expired entries might drop it first. So a missing lease does not say how its
/// request ended: if the response is not in the store, one of the waiting callers leads. If the store fails or is read-only,
/// requests are shared within this process only.
///
/// A response is stored only if its lease is still there: a change of what it fetches removes the lease. A lease can also
/// be lost because the process was suspended. Then the response is returned and not stored.
///
/// A failed request leaves its failure in the lease for two seconds, for those who saw the request under way. A caller
/// that joins later takes the lease over at once.
///
/// Cost: one dictionary access under a lock for joining, and one for finishing. With leases, joining and finishing each
/// write a small entry; waiting reads it. Nothing happens before the first request.
public final class RequestCoalescer: Sendable {
  /// The result for the callers that wait for a request: its failure, or a response that is not stored yet or could not
  /// be stored, which only callers in this process get. With `nil` they look into the cache.
  typealias SharedResult = Result<(any Sendable)?, CacheError>

  /// The result of joining a request.
  enum Joined: Sendable {
    /// The caller leads: it makes the request, and must finish it afterwards, even if it fails or is cancelled.
    case leading(CoalescingToken)
    /// Another caller's request ended with a result that this caller shares.
    case finished(SharedResult, of: CoalescingToken)
    /// The request that the caller waited for is gone without a result: its leader might have finished or died, or
    /// another process has changed what it fetched. The caller looks into the cache, and joins again if the response is
    /// not there.
    case vanished
  }

  /// A caller that waits for a request, and the requests that its task makes.
  private final class Waiter: Sendable {
    enum State {
      case waiting, overdue
      case resumed(Joined)

      var joined: Joined? { if case .resumed(let joined) = self { joined } else { nil } }
    }

    let led: [CoalescingToken]
    let state = TaskMonitor(State.waiting)

    init(_ led: [CoalescingToken]) { self.led = led }

    /// Waits for what it joins: `nil` if the calling task is cancelled, or that takes longer than `options` allow.
    func wait(_ options: LeaseOptions) async -> Joined? {
      let timer = options.maximumWait.map { time in
        Task {
          guard (try? await options.sleep(time)) != nil else { return }
          state.withLock { if case .waiting = $0 { $0 = .overdue } }
          state.signalAll()
        }
      }
      defer { timer?.cancel() }
      let found = await state.wait { (state: inout State) -> State? in if case .waiting = state { nil } else { state } }
      return found?.joined
    }
  }

  private struct State {
    /// The request for each key that further callers join, unless it is outdated or abandoned.
    var current: [String: CoalescingToken] = [:]
    /// All requests under way, and the callers that wait for each, first come first.
    var waiters: [CoalescingToken: [Waiter]] = [:]
    /// Responses that still arrive, for all who join their requests.
    var arriving: [CoalescingToken: any Sendable] = [:]
    /// The number of changes so far.
    var changes = 0

    /// Whether a request for `key` can end only after one of `led`: its leader makes that one too, or fetches something
    /// that waits for one.
    func waits(_ key: String, for led: [CoalescingToken]) -> Bool {
      if led.isEmpty { return false }
      // A task that outdates its own request and fetches its key again would do so forever.
      if led.contains(where: { $0.key == key && waiters[$0] != nil }) { return true }
      guard let current = current[key] else { return false }
      var (open, seen) = ([current], Set<CoalescingToken>())
      while let token = open.popLast() {
        guard seen.insert(token).inserted else { continue }
        if led.contains(token) { return true }
        open += waiters.filter { $0.value.contains { $0.led.contains(token) } }.keys
      }
      return false
    }
  }

  private let state = Mutex(State())
  /// The leases in the store; `nil` if there is no store.
  private let leases: LeaseTable?
  private let options: LeaseOptions
  /// Whether this process takes leases. It removes those of others in any case.
  private let takesLeases: Bool

  /// Coalesces the requests of this process whose responses no `EntryStore` keeps.
  public init() {
    leases = nil
    options = LeaseOptions()
    takesLeases = false
  }

  /// Coalesces requests whose responses are kept in the store of `leases`: if `takesLeases`, together with those of other
  /// processes.
  init(_ leases: LeaseTable, takesLeases: Bool) {
    self.leases = leases
    options = leases.options
    self.takesLeases = takesLeases
  }

  /// The number of changes so far that this process made to the store. Later callers might need another request.
  var changes: Int { state.withLock { $0.changes } }

  /// The number of callers that wait for the request for `key`; with `nil`, for any request.
  func waiters(for key: String? = nil) -> Int {
    state.withLock { state in
      guard let key else { return state.waiters.values.reduce(0) { $0 + $1.count } }
      return state.current[key].flatMap { state.waiters[$0]?.count } ?? 0
    }
  }

  /// Starts a request for `key` with the caller as its leader, or waits until the current request has ended, in this
  /// process or another.
  ///
  /// - Parameter acrossProcesses: whether to share the request with other processes, if they use the store.
  /// - Throws: `CacheError`: `cancelled`; `invalidRequest` if the request waits for one that the calling task makes; `busy`
  ///   if a request of this process has taken longer than `maximumWait`. No other: if requests cannot be shared, each
  ///   fetch makes its own.
  func join(_ key: String, acrossProcesses: Bool = true) async throws(CacheError) -> Joined {
    let joined = try await joinHere(key)
    guard acrossProcesses, takesLeases, let leases, case .leading(let token) = joined else { return joined }
    do throws(CacheError) {
      let claimed = try await leases.claim(token)
      if case .leading = claimed { return claimed }
      end(token, claimed)
      return claimed
    } catch {
      end(token, .finished(.success(nil), of: token))
      throw error
    }
  }

  private func joinHere(_ key: String) async throws(CacheError) -> Joined {
    if Task.isCancelled { throw .cancelled }
    let waiter = Waiter(CoalescingToken.led.get())
    let joined = try state.withLock { state throws(CacheError) -> Joined? in
      if state.waits(key, for: waiter.led) { throw .ownFetch(key) }
      if let current = state.current[key], !current.isOutdated, let response = state.arriving[current] {
        return .finished(.success(response), of: current)
      }
      guard let current = state.current[key], current.enter() else { return .leading(start(key, &state)) }
      state.waiters[current]?.append(waiter)
      return nil
    }
    if let joined { return joined }
    if let joined = await waiter.wait(options) { return joined }
    // If it no longer waited by then, others rely on what it joins.
    if leave(waiter) { throw Task.isCancelled ? .cancelled : .overdue(key) }
    await waiter.state.waitAlways { $0.joined != nil }
    guard let joined = waiter.state.withLock({ $0.joined }) else { throw .cancelled }
    return joined
  }

  /// Starts a request for `key` that no other caller joins, in this process or another.
  func begin(_ key: String) -> CoalescingToken {
    state.withLock { start(key, isCurrent: false, &$0) }
  }

  /// Ends a request, successful or not, and resumes all waiting callers. If the calling task was cancelled, the first of
  /// them becomes the leader instead and the others keep waiting: a cancelled task's result is not shared. Finishing
  /// twice does nothing.
  ///
  /// Waiting callers of other processes get no response: if it is not in the store, one of them requests its own. So do
  /// all callers if another process has taken the lease away, as some of them could have come after what it changed.
  ///
  /// - Parameter result: what the waiting callers share.
  func finish(_ token: CoalescingToken, _ result: SharedResult = .success(nil)) async {
    let isAbandoned = Task.isCancelled
    var isLost = false
    if let lease = await token.endRenewal() {
      if let version = lease.version {
        isLost = await leases?.end(lease.key, version: version, isAbandoned ? nil : result) == false
      } else {
        isLost = true
      }
    }
    // Not before: a store that is closed meanwhile gives the lease back.
    token.forgetLease()
    end(token, isLost && !token.isOutdated ? .vanished : .finished(result, of: token))
  }

  /// Passes `response`, which still arrives, to all callers that wait for the request of `token` in this process, and to
  /// those that join it before it has finished. A caller that cannot use it makes its own request.
  func share(_ response: any Sendable, of token: CoalescingToken) {
    let waiters = state.withLock { state -> [Waiter] in
      guard let waiters = state.waiters[token] else { return [] }
      state.waiters[token] = []
      state.arriving[token] = response
      return waiters
    }
    for waiter in waiters { waiter.state.set(.resumed(.finished(.success(response), of: token))) }
  }

  /// Ends the requests for which `isChanged` returns `true`, in this process and in others: their responses are not
  /// stored, and later callers do not wait for them. On return none of them is being stored. Call it before you remove
  /// changed entries or make them stale.
  ///
  /// The leader stores its response only if its lease is still there, and other processes do not wait for a lease that is
  /// gone. So removing the lease is all that other processes need. A lease that cannot be listed because of damage, or
  /// because a server of the store cannot be reached, stays.
  ///
  /// - Throws: `CacheError`: the engine failed. The requests of this process have ended all the same.
  func endRequests(_ isChanged: (RequestScope) -> Bool) async throws(CacheError) {
    await outdate(isChanged)
    try await leases?.remove(isChanged)
    // Some could have begun since.
    await outdate(isChanged)
  }

  /// Ends the requests that might store an entry under one of `keys`; see `endRequests(_:)`.
  func endRequests(of keys: [CacheKey]) async throws(CacheError) {
    try await endRequests { scope in keys.contains { scope.contains($0.text) } }
  }

  private func outdate(_ isChanged: (RequestScope) -> Bool) async {
    let outdated = state.withLock { state in
      state.changes += 1
      return state.waiters.keys.filter { isChanged(RequestScope($0.key)) }
    }
    for token in outdated { await token.outdate() }
  }

  /// Removes the leases of all requests under way, which still hold for a while. Without it, other processes would wait
  /// until the leases run out. A lease that cannot be removed does run out.
  func giveBackLeases() async {
    for token in state.withLock({ Array($0.waiters.keys) }) {
      if let lease = await token.endRenewal(), let version = lease.version {
        _ = try? await leases?.release(lease.key, version: version)
      }
      token.forgetLease()
    }
  }

  /// Ends the request of `token` in this process.
  private func end(_ token: CoalescingToken, _ joined: Joined) {
    let isAbandoned = Task.isCancelled
    let resumed = state.withLock { state -> [(Waiter, Joined)] in
      guard let waiters = state.waiters.removeValue(forKey: token) else { return [] }
      state.arriving[token] = nil
      let isCurrent = state.current[token.key] == token
      if isCurrent { state.current[token.key] = nil }
      guard isAbandoned, let successor = waiters.first else { return waiters.map { ($0, joined) } }
      let inherited = start(token.key, isCurrent: isCurrent, waiters: waiters.dropFirst(), &state)
      return [(successor, .leading(inherited))]
    }
    for (waiter, joined) in resumed { waiter.state.set(.resumed(joined)) }
  }

  /// Starts a request for `key`, for which `waiters` wait too.
  private func start(
    _ key: String, isCurrent: Bool = true, waiters: ArraySlice<Waiter> = [], _ state: inout State
  ) -> CoalescingToken {
    let token = CoalescingToken(key: key, callers: 1 + waiters.count)
    state.waiters[token] = Array(waiters)
    if isCurrent { state.current[key] = token }
    return token
  }

  /// Stops `waiter` from waiting; `false` if it no longer waited.
  private func leave(_ waiter: Waiter) -> Bool {
    let left = state.withLock { state -> CoalescingToken? in
      let left = state.waiters.first { $0.value.contains { $0 === waiter } }?.key
      if let left { state.waiters[left]?.removeAll { $0 === waiter } }
      return left
    }
    left?.leave()
    return left != nil
  }
}

extension CacheError {
  /// A task asks for `key` while it fetches what that fetch waits for.
  fileprivate static func ownFetch(_ key: String) -> CacheError {
    CacheError(
      .invalidRequest, "the fetch of \(key) needs its own response, and would wait for itself forever",
      hint: "do not fetch it in its own closure, nor in a closure that this one waits for")
  }

  /// A request of this process for `key` has taken longer than callers wait for it.
  static func overdue(_ key: String) -> CacheError {
    CacheError(
      .busy, "another request of this process for \(key) takes too long",
      hint: "a closure that waits for its own result, in a detached task or through another cache, never ends")
  }
}

/// The entries that a request might store: one of a typed resource, or any variant of a URL.
struct RequestScope {
  /// The whole key of the entry, or the beginning that the keys of all variants share.
  let text: String
  let isWhole: Bool

  /// Reads the scope from the key of a request.
  init(_ request: String) {
    let key = request.utf8.prefix { $0 != UInt8(ascii: " ") }
    let group = request.hasPrefix("url/") ? key.prefix { $0 != UInt8(ascii: ",") } : key
    isWhole = group.count == key.count
    text = "\(Substring(group))\(isWhole ? "" : URLResponses.variantStart)"
  }

  /// Whether the request might store an entry under `key`.
  func contains(_ key: String) -> Bool { isWhole ? key == text : key.hasPrefix(text) }

  /// Whether the request might store an entry whose key begins with `prefix`.
  func meets(prefix: String) -> Bool { text.hasPrefix(prefix) || !isWhole && prefix.hasPrefix(text) }

  /// Whether the request might store an entry that `selection` selects by its key. Before the response has arrived, the
  /// variant of a URL counts as the usual one.
  func meets(_ selection: EntrySelection) -> Bool {
    guard let prefix = selection.keyPrefix, meets(prefix: prefix) else { return false }
    guard let pattern = selection.pattern else { return true }
    if isWhole { return pattern.matches(key: text) }
    return !text.hasSuffix(URLResponses.variantStart) || pattern.matches(key: text + URLResponses.usualVariant)
  }
}

extension EntrySelection {
  /// Whether an entry that is stored now would be selected, so that a response under way is.
  var selectsNewEntries: Bool { state ?? .fresh == .fresh && minimumAge == nil }

  /// Whether only the selected entries tell which requests to end: the selection depends on their state or age, or its
  /// pattern might match a variant of a URL that is not the usual one.
  var selectsRequestsByEntry: Bool { !selectsNewEntries || pattern != nil }
}
