public import CacheDomain

/// Sees to it that several fetches of one key, in one process or in several, ask the origin once.
public protocol FetchFlights: Sendable {
  /// Takes the lead of a flight for `key`, or waits until the one under way has ended.
  ///
  /// - Throws: `CacheError` with the code `cancelled`, and no other: what keeps flights from being shared keeps nobody
  ///   from asking the origin.
  func board(_ key: String) async throws(CacheError) -> Boarding

  /// Ends a flight, whatever came of it.
  func land(_ ticket: FlightTicket) async
}

/// What became of boarding.
public enum Boarding: Sendable {
  /// The caller asks the origin, and lands afterwards.
  case leading(FlightTicket)
  /// Somebody else's flight ended while the caller waited.
  case landed
}

/// The lead of a flight.
public struct FlightTicket: Sendable, Hashable {
  /// What the flight is for.
  public let key: String

  /// The lead of a flight for `key`.
  public init(key: String) {
    self.key = key
  }
}

/// Flights that are not shared with anybody: each fetch asks for itself.
public struct LocalFlights: FetchFlights {
  /// No flights.
  public init() {}

  /// Takes the lead.
  public func board(_ key: String) async throws(CacheError) -> Boarding { .leading(FlightTicket(key: key)) }

  /// Does nothing.
  public func land(_ ticket: FlightTicket) async {}
}
