public import FetchVocabulary
internal import Synchronization

/// Single flight: concurrent fetches of one key, in one process or in several, ask the origin once.
public protocol FetchFlights: Sendable {
  /// Joins the flight for `key`: starts one with the caller as its leader, or waits until the current flight has ended.
  ///
  /// - Throws: `CacheError`: `cancelled`; `invalidRequest` if the flight waits for one that the calling task leads. No
  ///   other: if flights cannot be shared, each fetch asks the origin itself.
  func join(_ key: String) async throws(CacheError) -> JoinResult

  /// Starts a flight for `key` that no other caller joins.
  func begin(_ key: String) -> FlightTicket

  /// Ends a flight, successful or not. If the calling task was cancelled, one waiting caller becomes the leader
  /// instead. Finishing twice does nothing.
  ///
  /// - Parameter result: what the waiting callers share. A cancelled task's result is not shared.
  func finish(_ ticket: FlightTicket, _ result: FlightResult) async

  /// The number of changes so far that this process made to the store. Later callers may need another flight.
  var changes: Int { get }
}

extension FetchFlights {
  /// Ends a flight and sends the waiting callers to the cache.
  public func finish(_ ticket: FlightTicket) async { await finish(ticket, .success(nil)) }

  /// A flight that nothing makes outdated.
  public func begin(_ key: String) -> FlightTicket { FlightTicket(key: key) }

  /// None.
  public var changes: Int { 0 }
}

/// What the callers that wait for a flight share: its failure, or an answer that the cache could not store, which only
/// callers in this process get. With `nil` they look into the cache.
public typealias FlightResult = Result<(any Sendable)?, CacheError>

/// The result of joining a flight.
public enum JoinResult: Sendable {
  /// The caller leads: it asks the origin, and must finish the flight afterwards, even if it fails or is cancelled.
  case leading(FlightTicket)
  /// Another caller's flight ended with a result that this caller shares.
  case finished(FlightResult, of: FlightTicket)
  /// The flight that the caller waited for is gone without a result: its leader may have finished or died, or another
  /// process has changed what it fetched. The caller looks into the cache, and joins again if the answer is not there.
  case vanished
}

/// Flights within this process only. A cache needs no more if no other process uses its store.
///
/// Cost: one dictionary access under a lock for joining, and one for finishing.
public final class LocalFlights: FetchFlights {
  private typealias Continuation = CheckedContinuation<Result<JoinResult, CacheError>, Never>

  /// A caller that waits for a flight, and the flights that its task leads.
  private struct Waiter {
    let number: UInt64
    let continuation: Continuation
    let led: [FlightTicket]
  }

  private struct State {
    /// The last number given to a waiting caller.
    var lastNumber: UInt64 = 0
    /// The flight for each key that further callers join, unless it is outdated or abandoned.
    var current: [String: FlightTicket] = [:]
    /// The callers that wait for each flight under way, first come first.
    var waiters: [FlightTicket: [Waiter]] = [:]

    /// Whether a flight for `key` can end only after one of `led`: its leader leads that one too, or fetches something
    /// that waits for one.
    func waits(_ key: String, for led: [FlightTicket]) -> Bool {
      if led.isEmpty { return false }
      // A task that outdates its own flight and fetches its key again would do so for ever.
      if led.contains(where: { $0.key == key && waiters[$0] != nil }) { return true }
      guard let current = current[key] else { return false }
      var (open, seen) = ([current], Set<FlightTicket>())
      while let ticket = open.popLast() {
        guard seen.insert(ticket).inserted else { continue }
        if led.contains(ticket) { return true }
        open += waiters.filter { $0.value.contains { $0.led.contains(ticket) } }.keys
      }
      return false
    }
  }

  private let state = Mutex(State())
  private let underWay: FlightsUnderWay

  /// Creates a table without flights. Changes of a store make those of `underWay` outdated.
  public init(_ underWay: FlightsUnderWay = FlightsUnderWay()) { self.underWay = underWay }

  /// The number of changes so far.
  public var changes: Int { underWay.changes }

  /// The number of callers waiting for the flight for `key`.
  func waiters(for key: String) -> Int {
    state.withLock { state in state.current[key].flatMap { state.waiters[$0]?.count } ?? 0 }
  }

  /// Starts a flight for `key` with the caller as its leader, or waits until the current flight has ended.
  ///
  /// - Throws: `CacheError`: `cancelled`; `invalidRequest` if the flight waits for one that the calling task leads.
  public func join(_ key: String) async throws(CacheError) -> JoinResult {
    if Task.isCancelled { throw .cancelled }
    let led = FlightTicket.led.get()
    let (number, ticket) = state.withLock { state in
      state.lastNumber += 1
      let isFirst = led.isEmpty && state.current[key] == nil
      return (state.lastNumber, isFirst ? start(key, &state) : nil)
    }
    if let ticket { return .leading(ticket) }
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let waiter = Waiter(number: number, continuation: continuation, led: led)
        if let result = enqueue(key, waiter) { continuation.resume(returning: result) }
      }
    } onCancel: {
      leave(number)
    }
    return try result.get()
  }

  /// Starts a flight for `key` that no other caller joins.
  public func begin(_ key: String) -> FlightTicket {
    let ticket = FlightTicket(key: key)
    underWay.add(ticket)
    return ticket
  }

  /// Ends the flight of `ticket` and resumes all waiting callers. If the calling task was cancelled, the first of them
  /// becomes the leader and the others keep waiting.
  public func finish(_ ticket: FlightTicket, _ result: FlightResult) async {
    end(ticket, .finished(result, of: ticket))
  }

  /// Ends the flight of `ticket` because the other process's flight that it waited for has vanished, and tells all
  /// waiting callers so. If the calling task was cancelled, the first of them becomes the leader.
  public func vanish(_ ticket: FlightTicket) { end(ticket, .vanished) }

  private func end(_ ticket: FlightTicket, _ joined: JoinResult) {
    underWay.remove(ticket)
    let isAbandoned = Task.isCancelled
    let resumed = state.withLock { state -> [(Continuation, JoinResult)] in
      guard let waiters = state.waiters.removeValue(forKey: ticket) else { return [] }
      let isCurrent = state.current[ticket.key] == ticket
      if isCurrent { state.current[ticket.key] = nil }
      guard isAbandoned, let successor = waiters.first else { return waiters.map { ($0.continuation, joined) } }
      let inherited = start(ticket.key, isCurrent: isCurrent, waiters: waiters.dropFirst(), &state)
      return [(successor.continuation, .leading(inherited))]
    }
    for (continuation, joined) in resumed { continuation.resume(returning: .success(joined)) }
  }

  /// The result for a caller that need not wait; `nil` if the caller now waits.
  ///
  /// A task is marked as cancelled before its cancellation handler runs. So if this check, under the lock, finds the
  /// caller not cancelled, the handler will find it among the waiting callers.
  private func enqueue(_ key: String, _ waiter: Waiter) -> Result<JoinResult, CacheError>? {
    state.withLock { state in
      if Task.isCancelled { return .failure(.cancelled) }
      if state.waits(key, for: waiter.led) { return .failure(.ownFetch(key)) }
      guard let current = state.current[key], current.enter() else { return .success(.leading(start(key, &state))) }
      state.waiters[current]?.append(waiter)
      return nil
    }
  }

  /// Starts a flight for `key`, for which `waiters` wait too.
  private func start(
    _ key: String, isCurrent: Bool = true, waiters: ArraySlice<Waiter> = [], _ state: inout State
  ) -> FlightTicket {
    let ticket = FlightTicket(key: key, callers: 1 + waiters.count)
    underWay.add(ticket)
    state.waiters[ticket] = Array(waiters)
    if isCurrent { state.current[key] = ticket }
    return ticket
  }

  /// Stops caller `number` from waiting, if it still waits.
  private func leave(_ number: UInt64) {
    let left = state.withLock { state -> (FlightTicket, Waiter)? in
      for (ticket, waiters) in state.waiters {
        guard let index = waiters.firstIndex(where: { $0.number == number }) else { continue }
        if let waiter = state.waiters[ticket]?.remove(at: index) { return (ticket, waiter) }
      }
      return nil
    }
    guard let (ticket, waiter) = left else { return }
    ticket.leave()
    waiter.continuation.resume(returning: .failure(.cancelled))
  }
}

extension CacheError {
  /// A task asks for `key` while it fetches what that fetch waits for.
  fileprivate static func ownFetch(_ key: String) -> CacheError {
    CacheError(
      .invalidRequest, "the fetch of \(key) needs its own answer, and would wait for itself for ever",
      hint: "do not ask the cache for it in the closure that fetches it, nor in one that this closure asks for")
  }
}
