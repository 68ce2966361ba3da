/// Whether a response comes from the cache, from the origin, or from both in turn.
public enum FetchPolicy: String, Sendable, CaseIterable {
  /// A fresh entry is served without the origin; a stale one is revalidated.
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
  /// Whether the response comes from the cache or the origin.
  public var policy: FetchPolicy
  /// An entry older than this counts as stale; `nil` for no limit.
  public var maxAge: Duration?
  /// An entry that has been stale for no longer than this is served without revalidation; `nil` to serve none. An entry
  /// that has been stale for longer is not used even if the origin fails, or if only the cache can be used.
  public var maxStale: Duration?
  /// Whether to fail rather than serve a stale entry, whatever else allows it: the origin, the configuration,
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

/// How a request is served, and why.
public struct CacheDecision: Sendable, Hashable {
  /// The action.
  public enum Action: String, Sendable, Hashable {
    /// Serve the stored response.
    case serve
    /// Serve the stored response, and then ask the origin to update it.
    case serveThenRevalidate
    /// Ask the origin whether the stored response still holds.
    case revalidate
    /// Ask the origin for a response.
    case fetch
    /// Fail, because the options forbid a request to the origin.
    case fail
  }

  /// The reason for a request to the origin, in the terms of RFC 9211, section 2.2.
  public enum ForwardReason: String, Sendable, Hashable {
    /// The cache was configured not to serve requests.
    case bypass
    /// Caches do not serve requests with this method.
    case method
    /// Nothing is stored for the URL.
    case uriMiss = "uri-miss"
    /// No response stored for the URL was selected by the same header fields.
    case varyMiss = "vary-miss"
    /// The request does not allow the use of the stored response.
    case request
    /// The stored response is stale.
    case stale
    /// Only part of the requested content is stored.
    case partial
  }

  /// The action.
  public let action: Action
  /// Why, in one line.
  public let reason: String
  /// The reason why a request to the origin is, or would be, necessary; `nil` if the cache serves the response.
  public let forwardReason: ForwardReason?

  /// Creates a decision.
  public init(_ action: Action, _ reason: String, forward: ForwardReason? = nil) {
    self.action = action
    self.reason = reason
    self.forwardReason = forward
  }
}

/// One step towards a decision: the criterion, and the finding.
public struct CacheCriterion: Sendable, Hashable {
  /// The criterion, in a few words, such as "freshness".
  public let name: String
  /// The finding, in one line.
  public let finding: String

  /// Creates a step.
  public init(_ name: String, _ finding: String) {
    self.name = name
    self.finding = finding
  }
}

/// The decision about a fetch, and the criteria that led to it.
public struct FetchExplanation: Sendable, Hashable {
  /// The key of the entry that is served, or would be.
  public let key: String
  /// The action and its reason.
  public let decision: CacheDecision
  /// The examined criteria, in order.
  public private(set) var criteria: [CacheCriterion]

  /// Adds a criterion.
  public mutating func note(_ name: String, _ finding: String) {
    criteria.append(CacheCriterion(name, finding))
  }

  /// Creates an explanation.
  public init(key: String, decision: CacheDecision, criteria: [CacheCriterion]) {
    self.key = key
    self.decision = decision
    self.criteria = criteria
  }
}
