/// How long answers may be used if their origin does not say.
public struct FreshnessPolicy: Sendable, Hashable {
  /// How long an answer is fresh.
  public let timeToLive: Duration
  /// How long a stale answer may be used if the origin fails (RFC 5861, section 4).
  public let staleIfError: Duration
  /// How long a stale answer may be served while it is revalidated (RFC 5861, section 3).
  public let staleWhileRevalidate: Duration

  /// Creates a policy; no duration may be negative.
  public init(timeToLive: Duration, staleIfError: Duration, staleWhileRevalidate: Duration) {
    self.timeToLive = timeToLive
    self.staleIfError = staleIfError
    self.staleWhileRevalidate = staleWhileRevalidate
  }
}
