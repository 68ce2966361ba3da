internal import CacheDomain

/// How a cache handled a request, as the field `Cache-Status` tells it (RFC 9211).
struct CacheStatus: Sendable, Hashable {
  /// The name of this cache in the field.
  static let cacheName = "cachectl"

  /// Whether what is stored answered, without the origin.
  var isHit: Bool
  /// Why the origin was asked; `nil` where it was not.
  var forwardReason: CacheDecision.ForwardReason?
  /// The status that the origin answered with; `nil` where it was not asked, or did not answer.
  var forwardStatus: Int?
  /// Whether what the origin answered was stored.
  var isStored = false
  /// Whether the request waited for the answer to another one instead of going to the origin itself.
  var isCollapsed = false
  /// For how much longer the response is fresh, negative where it is stale; `nil` where it is not known.
  var timeToLive: Duration?
  /// The key under which the response is stored; `nil` to say nothing about it.
  var key: String?
  /// What else there is to say; `nil` for nothing.
  var detail: String?

  /// The status of a request that is answered as `decision` says.
  init(_ decision: CacheDecision) {
    isHit = decision.action == .serve || decision.action == .serveThenRevalidate
    // Where the origin may not be asked, the decision says why it would have to be.
    forwardReason = decision.action == .fail ? nil : decision.forwardReason
  }

  /// The value of the field: a member of a list of structured fields, to which each cache on the way adds one.
  var text: String {
    let parameters = [
      isHit ? "hit" : forwardReason.map { "fwd=\($0.rawValue)" },
      forwardReason == nil ? nil : forwardStatus.map { "fwd-status=\($0)" }, isStored ? "stored" : nil,
      isCollapsed ? "collapsed" : nil, timeToLive.map { "ttl=\(Self.integer($0))" },
      key.flatMap(Self.string).map { "key=\($0)" }, detail.flatMap(Self.string).map { "detail=\($0)" },
    ]
    return ([Self.cacheName] + parameters.compactMap(\.self)).joined(separator: "; ")
  }

  /// An integer of structured fields has up to 15 digits (RFC 8941, section 3.3.1).
  private static func integer(_ duration: Duration) -> Int64 {
    min(max(duration.components.seconds, -999_999_999_999_999), 999_999_999_999_999)
  }

  /// `text` as a string of structured fields (RFC 8941, section 3.3.3); `nil` where it has other than printable ASCII.
  private static func string(_ text: String) -> String? {
    guard text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else { return nil }
    let escaped = text.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : "\($0)" }
    return "\"\(escaped.joined())\""
  }
}
