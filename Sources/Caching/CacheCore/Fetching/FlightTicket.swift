internal import FetchVocabulary
internal import Synchronization

/// A request to an origin, from before it is sent until its answer has been stored.
///
/// It belongs to all the callers that wait for its answer: it is cancelled when the last of them has gone. A change of
/// what it fetches makes it outdated: it accepts no further callers, and its answer is not stored.
public final class FlightTicket: Sendable, Hashable {
  private struct State {
    /// The number of callers that wait for the answer.
    var callers: Int
    var isOutdated = false
    var isStoring = false
    /// The changes that wait until the answer has been stored, so that they find it.
    var changes: [CheckedContinuation<Void, Never>] = []
    /// Cancels the request.
    var cancel: (@Sendable () -> Void)?
  }

  /// The key that the flight fetches.
  public let key: String
  /// Chooses the caller that reports the flight's failures.
  let report = SharedReport()
  private let state: Mutex<State>

  /// Creates the ticket of a flight for `key`, which `callers` wait for.
  public init(key: String, callers: Int = 1) {
    self.key = key
    state = Mutex(State(callers: callers))
  }

  /// The flights that the current task leads, the outermost first. What it fetches meanwhile must not wait for them.
  static let led = TaskLocal<[FlightTicket]>(wrappedValue: [])

  /// Whether a change has made the answer outdated.
  package var isOutdated: Bool { state.withLock { $0.isOutdated } }

  /// Adds a caller; `false` if the flight accepts no more.
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

  /// Runs `store`, which stores the answer. A change waits for it to end.
  ///
  /// - Throws: `CacheError`: what `store` throws; `conflict` if the answer is outdated.
  package func storing(_ store: () async throws(CacheError) -> Void) async throws(CacheError) {
    let isOutdated = state.withLock { state in
      state.isStoring = !state.isOutdated
      return state.isOutdated
    }
    if isOutdated {
      throw CacheError(.conflict, "\(key) was changed while it was fetched", hint: "fetch it again")
    }
    defer {
      let changes = state.withLock { state in
        defer { (state.isStoring, state.changes) = (false, []) }
        return state.changes
      }
      for change in changes { change.resume() }
    }
    try await store()
  }

  /// Makes the answer outdated. If it is just being stored, waits until it is.
  func outdate() async {
    await withCheckedContinuation { continuation in
      let isStoring = state.withLock { state in
        state.isOutdated = true
        if state.isStoring { state.changes.append(continuation) }
        return state.isStoring
      }
      if !isStoring { continuation.resume() }
    }
  }

  /// Whether both are the same flight.
  public static func == (left: FlightTicket, right: FlightTicket) -> Bool { left === right }

  /// Hashes the identity of the flight.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// All requests under way whose answers one store keeps.
public final class FlightsUnderWay: Sendable {
  private let state = Mutex((flights: Set<FlightTicket>(), changes: 0))

  /// Creates an empty set.
  public init() {}

  /// The number of changes so far.
  var changes: Int { state.withLock { $0.changes } }

  func add(_ ticket: FlightTicket) { state.withLock { _ = $0.flights.insert(ticket) } }
  func remove(_ ticket: FlightTicket) { state.withLock { _ = $0.flights.remove(ticket) } }

  /// Makes the answers to the requests outdated whose keys `isChanged` selects. On return none of them is being stored.
  package func outdate(_ isChanged: (_ key: String) -> Bool) async {
    let outdated = state.withLock { state in
      state.changes += 1
      return state.flights.filter { isChanged($0.key) }
    }
    for ticket in outdated { await ticket.outdate() }
  }
}
