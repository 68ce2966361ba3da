/// Whether an answer comes from the cache, from the origin, or from one after the other.
public enum FetchPolicy: String, Sendable, CaseIterable {
  /// A fresh entry answers without the origin; a stale one is revalidated.
  case cacheFirst = "cache-first"
  /// The cached value at once, then the origin's.
  case cachedThenNetwork = "cached-then-network"
  /// The origin's value, whatever is cached; it replaces what is cached.
  case networkOnly = "network-only"
  /// The cached value, fresh or stale; the origin is not asked.
  case cacheOnly = "cache-only"
}

/// How a value is to be fetched.
public struct FetchOptions: Sendable, Hashable {
  /// Where the answer comes from.
  public var policy: FetchPolicy
  /// An entry older than this counts as stale; `nil` for no such bound.
  public var maxAge: Duration?
  /// An entry stale for no longer than this answers without revalidation; `nil` for none.
  public var maxStale: Duration?

  /// Options with the given fields.
  public init(policy: FetchPolicy = .cacheFirst, maxAge: Duration? = nil, maxStale: Duration? = nil) {
    self.policy = policy
    self.maxAge = maxAge
    self.maxStale = maxStale
  }
}
