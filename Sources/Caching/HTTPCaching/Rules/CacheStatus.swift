internal import FetchVocabulary

/// How a cache handled a request, as the `Cache-Status` field reports it (RFC 9211).
package struct CacheStatus: Sendable, Hashable {
  /// This cache's name in the field: a token, as RFC 8941 defines it.
  let cacheName: String
  /// Whether the cache served the response without a request to the origin.
  package var isHit: Bool
  /// The reason for the request to the origin; `nil` if there was none.
  var forwardReason: CacheDecision.ForwardReason?
  /// The status of the origin's response; `nil` if the origin was not asked or did not respond.
  package var forwardStatus: Int?
  /// Whether the origin's response was stored.
  package var isStored = false
  /// Whether the request waited for another request's response instead of sending its own.
  package var isCollapsed = false
  /// How long the response stays fresh, negative if it is stale; `nil` if unknown.
  package var timeToLive: Duration?

  /// Creates the status of a request that `decision` of the cache called `cacheName` answers.
  package init(_ decision: CacheDecision, cacheName: String) {
    self.cacheName = cacheName
    isHit = decision.action == .serve || decision.action == .serveThenRevalidate
    // If a request to the origin is not allowed, the decision gives the reason why one would be necessary.
    forwardReason = decision.action == .fail ? nil : decision.forwardReason
  }

  /// The field's value: one member of a structured-field list, to which each cache on the way adds its own.
  package var text: String {
    let parameters = [
      isHit ? "hit" : forwardReason.map { "fwd=\($0.rawValue)" },
      forwardReason == nil ? nil : forwardStatus.map { "fwd-status=\($0)" }, isStored ? "stored" : nil,
      isCollapsed ? "collapsed" : nil, timeToLive.map { "ttl=\(Self.integer($0))" },
    ]
    return ([cacheName] + parameters.compactMap(\.self)).joined(separator: "; ")
  }

  /// A structured-field integer has at most 15 digits (RFC 8941, section 3.3.1).
  private static func integer(_ duration: Duration) -> Int64 {
    min(max(duration.components.seconds, -999_999_999_999_999), 999_999_999_999_999)
  }
}
