public import CacheDomain

/// Sees to it that several fetches of one key, in one process or in several, ask the origin once.
public protocol FetchFlights: Sendable {
  /// Takes the lead of a flight for `key`, or waits until the one under way has ended.
  ///
  /// - Throws: `CacheError` with the code `cancelled`, and no other: what keeps flights from being shared keeps nobody
  ///   from asking the origin.
  func board(_ key: String) async throws(CacheError) -> Boarding

  /// Ends a flight, whatever came of it. Where the calling task was cancelled, one of those who wait takes the lead in
  /// its place. Landing twice does nothing.
  ///
  /// - Parameter failure: what those who wait are to take for their own failure; `nil` where they are to look into the
  ///   cache. That of a cancelled task is told nobody.
  func land(_ ticket: FlightTicket, failure: CacheError?) async
}

extension FetchFlights {
  /// Ends a flight after which those who wait look into the cache.
  public func land(_ ticket: FlightTicket) async { await land(ticket, failure: nil) }
}

/// What became of boarding.
public enum Boarding: Sendable {
  /// The caller asks the origin, and lands afterwards, also where it fails or is cancelled.
  case leading(FlightTicket)
  /// Somebody else's flight ended while the caller waited: with a failure that is the caller's too, or with `nil`, upon
  /// which the caller looks into the cache.
  case landed(CacheError?)
  /// The flight that the caller waited for is gone, and nothing says how it ended: its leader may have landed, or may
  /// have died. The caller looks into the cache, and boards again where the answer is not there.
  case vanished
}

/// The lead of a flight.
public struct FlightTicket: Sendable, Hashable {
  /// What the flight is for.
  public let key: String
  /// Tells the flight from earlier and later ones for the same key.
  public let number: UInt64

  /// The lead of flight `number` for `key`.
  public init(key: String, number: UInt64 = 0) {
    self.key = key
    self.number = number
  }
}
