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

    /// Whether a limit was given.
    var isLimited: Bool { if case .upTo = self { true } else { false } }

    /// Whether a response that is stale for `staleness` is staler than a limit that was given.
    func forbids(_ staleness: Duration) -> Bool {
      if case .upTo(let limit) = self { staleness > limit } else { false }
    }
  }

  /// Whether the request says `no-cache`.
  var mustRevalidate: Bool
  var isOnlyIfCached: Bool
  /// The largest age allowed.
  var maxAge: Duration?
  /// The largest age allowed of an immutable response. Only the options count: header fields usually ask for a reload,
  /// which is pointless for a response that never changes (RFC 8246, section 2).
  var maxAgeOfImmutable: Duration?
  var minFresh: Duration
  var maxStale: Staleness

  /// Whether the caller accepts no stale response at all.
  let requiresFresh: Bool

  /// Whether the request sets its own terms for freshness.
  var wantsFresh: Bool { requiresFresh || maxAge != nil || minFresh > .zero }

  init(_ fields: HTTPFields, _ options: FetchOptions) {
    let control = CacheControl(fields)
    // RFC 9111, section 5.4: `Pragma: no-cache` counts only without `Cache-Control`.
    let pragma = fields.contains("cache-control") ? [] : fields["pragma"].map(FieldList.names) ?? []
    mustRevalidate = control.contains("no-cache") || pragma.contains("no-cache")
    isOnlyIfCached = control.contains("only-if-cached") || options.policy == .cacheOnly
    let maxAge = control.seconds("max-age").duration ?? options.maxAge
    self.maxAge = maxAge.map { min($0, options.maxAge ?? $0) }
    maxAgeOfImmutable = options.maxAge
    requiresFresh = options.requiresFresh
    minFresh = control.seconds("min-fresh").duration ?? .zero
    maxStale = Self.staleness(control, options)
  }

  private static func staleness(_ control: CacheControl, _ options: FetchOptions) -> Staleness {
    if options.requiresFresh { return .none }
    if let limit = options.maxStale { return .upTo(limit) }
    if options.policy == .cacheOnly { return .any }
    guard control.contains("max-stale") else { return .none }
    return switch control.seconds("max-stale") {
    case .valid(let limit): .upTo(limit)
    case .malformed, .absent: .any
    }
  }
}

/// What a response demands of a cache (RFC 9111, section 5.2.2; RFC 9213; RFC 5861).
package struct ResponseDirectives: Sendable, Hashable {
  let control: CacheControl
  /// Whether the directives are meant for shared caches only. `Expires` is then ignored.
  let isTargeted: Bool
  private let isShared: Bool

  init(_ fields: HTTPFields, isShared: Bool) {
    let targeted = isShared ? TargetedCacheControl.directives(fields) : nil
    self.control = targeted ?? CacheControl(fields)
    self.isTargeted = targeted != nil
    self.isShared = isShared
  }

  /// Whether the origin must confirm the response before each use.
  var needsRevalidation: Bool { control.fieldNames("no-cache")?.isEmpty == true }

  /// The fields that must not be used without a confirmation, in lower case.
  package var fieldsWithRevalidation: [String] { control.fieldNames("no-cache") ?? [] }

  /// The fields that a shared cache must not store, in lower case.
  var privateFields: [String] { isShared ? control.fieldNames("private") ?? [] : [] }

  /// Whether the cache is shared and must not store the response.
  var isPrivate: Bool { isShared && control.fieldNames("private")?.isEmpty == true }

  /// The directive that forbids using the response stale; `nil` if none does.
  var staleProhibition: String? {
    let names = ["must-revalidate", "no-cache"] + (isShared ? ["proxy-revalidate", "s-maxage"] : [])
    return names.first { $0 == "no-cache" ? needsRevalidation : control.contains($0) }
  }

  /// The name of the directive that limits how old a fresh response can be, and its argument; `nil` if there is none.
  var maxAge: (name: String, argument: SecondsArgument)? {
    let names = isShared ? ["s-maxage", "max-age"] : ["max-age"]
    return names.lazy.map { ($0, control.seconds($0)) }.first { $0.1 != .absent }
  }

  /// How long the response may be used stale while it is revalidated; `nil` if it does not say.
  var staleWhileRevalidate: Duration? { control.seconds("stale-while-revalidate").duration }

  /// How long the response may be used stale if the origin fails; `nil` if it does not say.
  var staleIfError: Duration? { control.seconds("stale-if-error").duration }
}
