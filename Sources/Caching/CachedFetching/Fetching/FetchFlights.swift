public import FetchVocabulary

/// Single flight: concurrent fetches of one key, in one process or in several, ask the origin once.
public protocol FetchFlights: Sendable {
  /// Joins the flight for `key`: starts one with the caller as its leader, or waits until the current flight has ended.
  ///
  /// - Throws: `CacheError` with the code `cancelled`, and no other: if flights cannot be shared, each fetch asks the
  ///   origin itself.
  func join(_ key: String) async throws(CacheError) -> JoinResult

  /// Ends a flight, successful or not. If the calling task was cancelled, one waiting caller becomes the leader
  /// instead. Finishing twice does nothing.
  ///
  /// - Parameter failure: the failure that the waiting callers share; `nil` if they should look into the cache. A
  ///   cancelled task's failure is not shared.
  func finish(_ ticket: FlightTicket, failure: CacheError?) async
}

extension FetchFlights {
  /// Ends a flight and sends the waiting callers to the cache.
  public func finish(_ ticket: FlightTicket) async { await finish(ticket, failure: nil) }
}

/// The result of joining a flight.
public enum JoinResult: Sendable {
  /// The caller leads: it asks the origin, and must finish the flight afterwards, even if it fails or is cancelled.
  case leading(FlightTicket)
  /// Another caller's flight ended: with a failure that this caller shares, or with `nil`, and then this caller looks
  /// into the cache.
  case finished(CacheError?)
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
}
