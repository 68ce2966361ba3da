internal import FetchVocabulary

/// What a request and the options of its fetch allow of a stored response (RFC 9111, section 5.2.1).
struct RequestDirectives: Sendable, Hashable {
  /// How stale a response may be.
  enum Staleness: Sendable, Hashable {
    case none
    case upTo(Duration)
    case any

    func allows(_ staleness: Duration) -> Bool {
      switch self {
      case .none: false
      case .upTo(let limit): staleness <= limit
      case .any: true
      }
    }
  }

  var mustRevalidate: Bool
  var isOnlyIfCached: Bool
  /// The largest age allowed.
  var maxAge: Duration?
  /// The largest age allowed of an immutable response. Only the options count: header fields usually ask for a reload,
  /// which is pointless for a response that never changes (RFC 8246, section 2).
  var maxAgeOfImmutable: Duration?
  var minFresh: Duration
  var maxStale: Staleness

  /// Whether the request sets its own terms for freshness.
  var wantsFresh: Bool { maxAge != nil || minFresh > .zero }

  init(_ fields: HTTPFields, _ options: FetchOptions) {
    let control = CacheControl(fields)
    // RFC 9111, section 5.4: `Pragma: no-cache` counts only without `Cache-Control`.
    let pragma = fields.contains("cache-control") ? [] : FieldList.names(fields["pragma"] ?? "")
    mustRevalidate = control.contains("no-cache") || pragma.contains("no-cache")
    isOnlyIfCached = control.contains("only-if-cached") || options.policy == .cacheOnly
    let ages = [control.seconds("max-age").duration, options.maxAge].compactMap(\.self)
    maxAge = ages.min()
    maxAgeOfImmutable = options.maxAge
    minFresh = control.seconds("min-fresh").duration ?? .zero
    maxStale = Self.staleness(control, options)
  }

  private static func staleness(_ control: CacheControl, _ options: FetchOptions) -> Staleness {
    if options.policy == .cacheOnly { return .any }
    if let limit = options.maxStale { return .upTo(limit) }
    guard control.contains("max-stale") else { return .none }
    return switch control.seconds("max-stale") {
    case .valid(let limit): .upTo(limit)
    case .malformed, .absent: .any
    }
  }
}
