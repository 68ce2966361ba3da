public import FetchVocabulary

/// The services that all fetches share.
public struct FetchServices: Sendable {
  /// Decides what may be stored and reused.
  public var rules: HTTPCacheRules
  /// The current time, since 1970-01-01T00:00:00Z.
  public let now: @Sendable () -> Duration
  /// Makes concurrent fetches of one key ask the origin once.
  public let flights: any FetchFlights
  /// Runs work that no caller waits for.
  public let background: BackgroundWork
  /// Receives an explanation of each snapshot; `nil` if none is wanted.
  public let observe: (@Sendable (FetchExplanation) -> Void)?

  /// Creates services; by default flights are shared within this process only.
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
