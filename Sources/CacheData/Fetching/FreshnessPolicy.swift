/// How long answers are of use where their origin says nothing about it.
public struct FreshnessPolicy: Sendable, Hashable {
  /// How long an answer is fresh.
  public let timeToLive: Duration
  /// How long a stale answer may stand in for an origin that fails (RFC 5861, section 4).
  public let staleIfError: Duration
  /// How long a stale answer may be served while it is revalidated (RFC 5861, section 3).
  public let staleWhileRevalidate: Duration

  /// A policy with the given durations, none of them negative.
  public init(timeToLive: Duration, staleIfError: Duration, staleWhileRevalidate: Duration) {
    self.timeToLive = timeToLive
    self.staleIfError = staleIfError
    self.staleWhileRevalidate = staleWhileRevalidate
  }
}
