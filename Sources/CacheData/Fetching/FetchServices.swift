public import CacheDomain

/// What every fetch shares with the others, whatever it fetches.
public struct FetchServices: Sendable {
  /// What may be stored and reused.
  public var rules: HTTPCacheRules
  /// The time, since 1970-01-01T00:00:00Z.
  public let now: @Sendable () -> Duration
  /// Sees to it that several fetches of one key ask the origin once.
  public let flights: any FetchFlights
  /// Does what need not be waited for.
  public let background: BackgroundWork
  /// Is told how each snapshot came about; `nil` where nobody wants to know.
  public let observe: (@Sendable (FetchExplanation) -> Void)?

  /// Services of the given kind.
  public init(
    rules: HTTPCacheRules, now: @escaping @Sendable () -> Duration, flights: any FetchFlights = LocalFlights(),
    background: BackgroundWork = BackgroundWork(), observe: (@Sendable (FetchExplanation) -> Void)? = nil
  ) {
    self.rules = rules
    self.now = now
    self.flights = flights
    self.background = background
    self.observe = observe
  }
}
