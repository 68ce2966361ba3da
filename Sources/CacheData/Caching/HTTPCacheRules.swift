/// The rules of HTTP caching (RFC 9111, RFC 5861, RFC 9213) as functions of requests, responses and the time: what may
/// be stored, what a stored response is good for, and what the origin is asked. They read no clock and store nothing.
///
/// Each question has a function of its own, in a file of its own. Those that decide take a trace in which they note
/// what they examined.
public struct HTTPCacheRules: Sendable, Hashable {
  /// Whether several users share the store. A shared cache stores no private responses, stores responses to requests
  /// with credentials only where they allow it, and obeys the directives for shared caches.
  public let isShared: Bool
  /// How long a response is fresh whose origin says nothing about it.
  public enum Heuristic: Sendable, Hashable {
    /// For the configured time to live: what the user expects of an API whose answers do not speak of caching.
    case timeToLive
    /// For a tenth of the time since its last change, but no longer than the configured time to live. A response that
    /// does not say when it changed last is stale at once (RFC 9111, section 4.2.2).
    case lastModified
  }

  /// What holds where an origin says nothing about freshness.
  public let freshness: FreshnessPolicy
  /// How the lifetime of such a response is found.
  public let heuristic: Heuristic
  /// Whether servers of https are believed without a proof of who they are. What they answer is then not stored.
  public var isInsecure = false

  /// The rules of a private or a shared cache.
  public init(isShared: Bool = false, freshness: FreshnessPolicy, heuristic: Heuristic = .timeToLive) {
    self.isShared = isShared
    self.freshness = freshness
    self.heuristic = heuristic
  }

  /// The same rules with another heuristic.
  func with(_ heuristic: Heuristic) -> HTTPCacheRules {
    var rules = HTTPCacheRules(isShared: isShared, freshness: freshness, heuristic: heuristic)
    rules.isInsecure = isInsecure
    return rules
  }

  /// Whether what the server of `request` says may change what is stored.
  func believesServer(of request: HTTPRequest) -> Bool { !isInsecure || !request.isSecure }

  /// What `response` demands of this cache.
  func directives(_ response: HTTPResponseHead) -> ResponseDirectives {
    ResponseDirectives(response.fields, isShared: isShared)
  }
}
