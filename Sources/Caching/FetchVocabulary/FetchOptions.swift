/// Whether an answer comes from the cache, from the origin, or from both in turn.
public enum FetchPolicy: String, Sendable, CaseIterable {
  /// A fresh entry answers without the origin; a stale one is revalidated.
  case cacheFirst = "cache-first"
  /// The cached value first, then the origin's.
  case cachedThenNetwork = "cached-then-network"
  /// The origin's value, whatever is cached. It replaces the entry.
  case networkOnly = "network-only"
  /// The cached value, fresh or stale; the origin is not asked.
  case cacheOnly = "cache-only"
}

/// How to fetch a value.
public struct FetchOptions: Sendable, Hashable {
  /// Where the answer comes from.
  public var policy: FetchPolicy
  /// An entry older than this counts as stale; `nil` for no limit.
  public var maxAge: Duration?
  /// An entry that has been stale for no longer than this answers without revalidation; `nil` if none may. An entry that
  /// has been stale for longer is not used even if the origin fails, or if only the cache may answer.
  public var maxStale: Duration?
  /// Whether to fail rather than answer with a stale entry, whatever else allows it: the origin, the configuration,
  /// `maxStale` or the policy.
  public var requiresFresh: Bool

  /// Creates options.
  public init(
    policy: FetchPolicy = .cacheFirst, maxAge: Duration? = nil, maxStale: Duration? = nil, requiresFresh: Bool = false
  ) {
    self.policy = policy
    self.maxAge = maxAge
    self.maxStale = maxStale
    self.requiresFresh = requiresFresh
  }
}
