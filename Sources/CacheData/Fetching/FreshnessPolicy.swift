/// How long an answer is of use.
public struct Lifetime: Sendable, Hashable {
  /// How long it is fresh.
  public let fresh: Duration
  /// How long it is kept, from the same moment on; at least as long as it is fresh.
  public let retained: Duration

  /// A lifetime; `retained` is raised to `fresh` where it is shorter.
  public init(fresh: Duration, retained: Duration) {
    self.fresh = fresh
    self.retained = max(fresh, retained)
  }
}

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

  /// The lifetime of an answer: kept for as long as a stale one may be of any use.
  public var lifetime: Lifetime {
    Lifetime(fresh: timeToLive, retained: timeToLive + max(staleIfError, staleWhileRevalidate))
  }
}
