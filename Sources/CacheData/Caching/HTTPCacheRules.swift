/// The rules of HTTP caching (RFC 9111, RFC 5861, RFC 9213) as functions of requests, responses and the time: what may
/// be stored, what a stored response is good for, and what the origin is asked. They read no clock and store nothing.
///
/// Each question has a function of its own, in a file of its own. Those that decide take a trace in which they note
/// what they examined.
public struct HTTPCacheRules: Sendable, Hashable {
  /// Whether several users share the store. A shared cache stores no private responses, stores responses to requests
  /// with credentials only where they allow it, and obeys the directives for shared caches.
  public let isShared: Bool
  /// What holds where an origin says nothing about freshness.
  public let freshness: FreshnessPolicy

  /// The rules of a private or a shared cache.
  public init(isShared: Bool = false, freshness: FreshnessPolicy) {
    self.isShared = isShared
    self.freshness = freshness
  }

  /// What `response` demands of this cache.
  func directives(_ response: HTTPResponseHead) -> ResponseDirectives {
    ResponseDirectives(response.fields, isShared: isShared)
  }
}
