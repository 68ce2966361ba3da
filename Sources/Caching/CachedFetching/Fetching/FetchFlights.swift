public import FetchVocabulary
internal import Synchronization

/// Single flight: concurrent fetches of one key, in one process or in several, ask the origin once.
public protocol FetchFlights: Sendable {
  /// Joins the flight for `key`: starts one with the caller as its leader, or waits until the current flight has ended.
  ///
  /// - Throws: `CacheError`: `cancelled`; `invalidRequest` if the flight waits for one that the calling task leads. No
  ///   other: if flights cannot be shared, each fetch asks the origin itself.
  func join(_ key: String) async throws(CacheError) -> JoinResult

  /// Ends a flight, successful or not. If the calling task was cancelled, one waiting caller becomes the leader
  /// instead. Finishing twice does nothing.
  ///
  /// - Parameter result: what the waiting callers share. A cancelled task's result is not shared.
  func finish(_ ticket: FlightTicket, _ result: FlightResult) async
}

extension FetchFlights {
  /// Ends a flight and sends the waiting callers to the cache.
  public func finish(_ ticket: FlightTicket) async { await finish(ticket, .success(nil)) }
}

/// What the callers that wait for a flight share: its failure, or an answer that the cache could not store, which only
/// callers in this process get. With `nil` they look into the cache.
public typealias FlightResult = Result<(any Sendable)?, CacheError>

/// The result of joining a flight.
public enum JoinResult: Sendable {
  /// The caller leads: it asks the origin, and must finish the flight afterwards, even if it fails or is cancelled.
  case leading(FlightTicket)
  /// Another caller's flight ended with a result that this caller shares.
  case finished(FlightResult)
  /// The flight that the caller waited for is gone without a result: its leader may have finished or died. The caller
  /// looks into the cache, and joins again if the answer is not there.
  case vanished
}

/// The leader's proof that it leads a flight.
public struct FlightTicket: Sendable, Hashable {
  /// The key that the flight fetches.
  public let key: String
  /// Distinguishes this flight from earlier and later ones for the same key.
  public let number: UInt64

  /// Creates the ticket of flight `number` for `key`.
  public init(key: String, number: UInt64 = 0) {
    self.key = key
    self.number = number
  }

  /// The flights that the current task leads, the outermost first. What it fetches meanwhile must not wait for them.
  static let led = TaskLocal<[FlightTicket]>(wrappedValue: [])
}

/// Flights within this process only. A cache needs no more if no other process uses its store.
///
/// Cost: one dictionary access under a lock for joining, and one for finishing.
public final class LocalFlights: FetchFlights {
  private typealias Waiter = CheckedContinuation<Result<JoinResult, CacheError>, Never>

  /// A flight under way, and the callers that wait for it, first come first.
  private struct Flight {
    var ticket: FlightTicket
    /// The waiting callers, each with the flights that its task leads.
    var waiters: [(number: UInt64, continuation: Waiter, led: [FlightTicket])] = []
  }

  private struct State {
    var flights: [String: Flight] = [:]

    /// Whether the flight for `key` can end only after one of `led`: its leader leads that one too, or fetches
    /// something that waits for one.
    func waits(_ key: String, for led: [FlightTicket]) -> Bool {
      if led.isEmpty { return false }
      var (open, seen) = ([key], Set<String>())
      while let key = open.popLast() {
        guard seen.insert(key).inserted, let ticket = flights[key]?.ticket else { continue }
        if led.contains(ticket) { return true }
        open += flights.filter { $0.value.waiters.contains { $0.led.contains(ticket) } }.keys
      }
      return false
    }
  }

  private let state = Mutex(State())
  /// The last number given to a flight or a waiting caller. Each number is used once in the whole process, as a task may
  /// lead flights of several caches.
  private static let lastNumber = Atomic<UInt64>(0)

  /// Creates a table without flights.
  public init() {}

  /// The number of callers waiting for the flight for `key`.
  func waiters(for key: String) -> Int {
    state.withLock { $0.flights[key]?.waiters.count ?? 0 }
  }

  /// Starts a flight for `key` with the caller as its leader, or waits until the current flight has ended.
  ///
  /// - Throws: `CacheError`: `cancelled`; `invalidRequest` if the flight waits for one that the calling task leads.
  public func join(_ key: String) async throws(CacheError) -> JoinResult {
    if Task.isCancelled { throw .cancelled }
    let number = Self.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
    if let ticket = state.withLock({ Self.lead(key, number, &$0) }) { return .leading(ticket) }
    let led = FlightTicket.led.get()
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if let result = enqueue(key, (number, continuation, led)) { continuation.resume(returning: result) }
      }
    } onCancel: {
      leave(key, number)
    }
    return try result.get()
  }

  /// Ends the flight of `ticket` and resumes all waiting callers. If the calling task was cancelled, the first of them
  /// becomes the leader and the others keep waiting.
  public func finish(_ ticket: FlightTicket, _ result: FlightResult) async {
    end(ticket, .finished(result))
  }

  /// Ends the flight of `ticket` because the other process's flight that it waited for has vanished, and tells all
  /// waiting callers so. If the calling task was cancelled, the first of them becomes the leader.
  public func vanish(_ ticket: FlightTicket) { end(ticket, .vanished) }

  private func end(_ ticket: FlightTicket, _ joined: JoinResult) {
    let isAbandoned = Task.isCancelled
    let resumed = state.withLock { state -> [(Waiter, JoinResult)] in
      guard state.flights[ticket.key]?.ticket == ticket else { return [] }
      return isAbandoned ? passLead(ticket.key, &state) : end(ticket.key, joined, &state)
    }
    for (waiter, joined) in resumed { waiter.resume(returning: .success(joined)) }
  }

  /// The result for a caller that need not wait; `nil` if the caller now waits.
  ///
  /// A task is marked as cancelled before its cancellation handler runs. So if this check, under the lock, finds the
  /// caller not cancelled, the handler will find it among the waiting callers.
  private func enqueue(
    _ key: String, _ waiter: (number: UInt64, continuation: Waiter, led: [FlightTicket])
  ) -> Result<JoinResult, CacheError>? {
    state.withLock { state in
      if Task.isCancelled { return .failure(.cancelled) }
      if let ticket = Self.lead(key, waiter.number, &state) { return .success(.leading(ticket)) }
      if state.waits(key, for: waiter.led) { return .failure(.ownFetch(key)) }
      state.flights[key]?.waiters.append(waiter)
      return nil
    }
  }

  /// The ticket, if caller `number` becomes the leader; `nil` if the flight already has one.
  private static func lead(_ key: String, _ number: UInt64, _ state: inout State) -> FlightTicket? {
    guard state.flights[key] == nil else { return nil }
    let ticket = FlightTicket(key: key, number: number)
    state.flights[key] = Flight(ticket: ticket)
    return ticket
  }

  /// Stops caller `number` from waiting, if it still waits.
  private func leave(_ key: String, _ number: UInt64) {
    let waiter = state.withLock { state -> Waiter? in
      guard let index = state.flights[key]?.waiters.firstIndex(where: { $0.number == number }) else { return nil }
      return state.flights[key]?.waiters.remove(at: index).continuation
    }
    waiter?.resume(returning: .failure(.cancelled))
  }

  private func end(_ key: String, _ joined: JoinResult, _ state: inout State) -> [(Waiter, JoinResult)] {
    (state.flights.removeValue(forKey: key)?.waiters ?? []).map { ($0.continuation, joined) }
  }

  private func passLead(_ key: String, _ state: inout State) -> [(Waiter, JoinResult)] {
    guard var flight = state.flights[key], !flight.waiters.isEmpty else {
      return end(key, .finished(.success(nil)), &state)
    }
    let successor = flight.waiters.removeFirst()
    flight.ticket = FlightTicket(key: key, number: successor.number)
    state.flights[key] = flight
    return [(successor.continuation, .leading(flight.ticket))]
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
