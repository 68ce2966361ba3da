public import CacheDomain
internal import Synchronization

/// Flights that the tasks of this process share, and no other process. It is all that a cache needs whose store is its
/// own.
///
/// Cost: one access of a dictionary behind a lock, for boarding and for landing each.
public final class LocalFlights: FetchFlights {
  private typealias Waiter = CheckedContinuation<Result<Boarding, CacheError>, Never>

  /// A flight under way, and those who wait for it in the order in which they came.
  private struct Flight {
    var ticket: FlightTicket
    var waiters: [(number: UInt64, continuation: Waiter)] = []
  }

  private struct State {
    var flights: [String: Flight] = [:]
    /// Numbers for flights and waiters, each used once.
    var lastNumber: UInt64 = 0

    mutating func nextNumber() -> UInt64 {
      lastNumber += 1
      return lastNumber
    }
  }

  private let state = Mutex(State())

  /// No flights yet.
  public init() {}

  /// How many callers wait for the flight for `key`.
  func waiters(for key: String) -> Int {
    state.withLock { $0.flights[key]?.waiters.count ?? 0 }
  }

  /// Takes the lead of a flight for `key`, or waits until the one under way has ended.
  ///
  /// - Throws: `CacheError` with the code `cancelled`.
  public func board(_ key: String) async throws(CacheError) -> Boarding {
    if Task.isCancelled { throw .cancelled }
    let (number, ticket) = state.withLock { state in
      let number = state.nextNumber()
      return (number, Self.lead(key, number, &state))
    }
    if let ticket { return .leading(ticket) }
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if let result = join(key, number, continuation) { continuation.resume(returning: result) }
      }
    } onCancel: {
      leave(key, number)
    }
    return try result.get()
  }

  /// Ends the flight of `ticket`. Those who wait are told at once; where the calling task was cancelled, the first of
  /// them takes the lead and the others go on waiting.
  public func land(_ ticket: FlightTicket, failure: CacheError?) async {
    end(ticket, .landed(failure))
  }

  /// Ends the flight of `ticket` because the flight of another process for which it stood has vanished. Those who wait
  /// are told so at once; where the calling task was cancelled, the first of them takes the lead.
  public func vanish(_ ticket: FlightTicket) { end(ticket, .vanished) }

  private func end(_ ticket: FlightTicket, _ boarding: Boarding) {
    let isAbandoned = Task.isCancelled
    let resumed = state.withLock { state -> [(Waiter, Boarding)] in
      guard state.flights[ticket.key]?.ticket == ticket else { return [] }
      return isAbandoned ? passLead(ticket.key, &state) : end(ticket.key, boarding, &state)
    }
    for (waiter, boarding) in resumed { waiter.resume(returning: .success(boarding)) }
  }

  /// The result for a caller who need not wait; `nil` for one who was put among those who wait.
  ///
  /// The flag of a cancelled task is set before its handler runs: a caller who is found not cancelled here, under the
  /// lock, is found by the handler among those who wait.
  private func join(_ key: String, _ number: UInt64, _ waiter: Waiter) -> Result<Boarding, CacheError>? {
    state.withLock { state in
      if Task.isCancelled { return .failure(.cancelled) }
      if let ticket = Self.lead(key, number, &state) { return .success(.leading(ticket)) }
      state.flights[key]?.waiters.append((number, waiter))
      return nil
    }
  }

  /// The ticket of the caller `number` who leads; `nil` where somebody else does.
  private static func lead(_ key: String, _ number: UInt64, _ state: inout State) -> FlightTicket? {
    guard state.flights[key] == nil else { return nil }
    let ticket = FlightTicket(key: key, number: number)
    state.flights[key] = Flight(ticket: ticket)
    return ticket
  }

  /// Takes the caller `number` from among those who wait, if it is still there.
  private func leave(_ key: String, _ number: UInt64) {
    let waiter = state.withLock { state -> Waiter? in
      guard let index = state.flights[key]?.waiters.firstIndex(where: { $0.number == number }) else { return nil }
      return state.flights[key]?.waiters.remove(at: index).continuation
    }
    waiter?.resume(returning: .failure(.cancelled))
  }

  private func end(_ key: String, _ boarding: Boarding, _ state: inout State) -> [(Waiter, Boarding)] {
    (state.flights.removeValue(forKey: key)?.waiters ?? []).map { ($0.continuation, boarding) }
  }

  private func passLead(_ key: String, _ state: inout State) -> [(Waiter, Boarding)] {
    guard var flight = state.flights[key], !flight.waiters.isEmpty else { return end(key, .landed(nil), &state) }
    let successor = flight.waiters.removeFirst()
    flight.ticket = FlightTicket(key: key, number: successor.number)
    state.flights[key] = flight
    return [(successor.continuation, .leading(flight.ticket))]
  }
}
