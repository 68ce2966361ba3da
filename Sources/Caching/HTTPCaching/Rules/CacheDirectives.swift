internal import FetchVocabulary

/// The conditions that a request and the options of its fetch set for a stored response (RFC 9111, section 5.2.1).
struct RequestDirectives: Sendable, Hashable {
  /// Whether the request says `no-cache`.
  let mustRevalidate: Bool
  let isOnlyIfCached: Bool
  /// The largest age allowed.
  let maxAge: Duration?
  /// The largest age allowed of an immutable response. Only the options count: header fields usually ask for a reload,
  /// which is pointless for a response that never changes (RFC 8246, section 2).
  let maxAgeOfImmutable: Duration?
  let minFresh: Duration
  /// For how long a response can have been stale: `anyStaleness` for no limit, `nil` if it must not be stale.
  let maxStale: Duration?
  /// How long after it became stale a response can be used if the origin fails; `nil` if the request does not say.
  let staleIfError: Duration?

  /// Whether the caller accepts no stale response at all.
  let requiresFresh: Bool

  /// Whether the request sets its own terms for freshness.
  var wantsFresh: Bool { requiresFresh || maxAge != nil || minFresh > .zero }

  static let anyStaleness: Duration = .seconds(Int64.max)

  init(_ fields: HTTP.Fields, _ options: FetchOptions) {
    let control = CacheControl(fields)
    // RFC 9111, section 5.4: `Pragma: no-cache` counts only without `Cache-Control`.
    let isPragma = !fields.contains("cache-control") && fields.names(in: "pragma").contains("no-cache")
    mustRevalidate = control.contains("no-cache") || isPragma
    isOnlyIfCached = control.contains("only-if-cached") || options.policy == .cacheOnly
    let maxAge = control.seconds("max-age") ?? options.maxAge
    self.maxAge = maxAge.map { min($0, options.maxAge ?? $0) }
    maxAgeOfImmutable = options.maxAge
    requiresFresh = options.requiresFresh
    minFresh = control.seconds("min-fresh") ?? .zero
    staleIfError = control.seconds("stale-if-error")
    maxStale =
      if requiresFresh {
        nil
      } else if let limit = options.maxStale {
        limit
      } else if options.policy == .cacheOnly {
        Self.anyStaleness
      } else if control.contains("max-stale") {
        control.seconds("max-stale") ?? Self.anyStaleness
      } else {
        nil
      }
  }
}

/// The directives of a response for a cache (RFC 9111, section 5.2.2; RFC 9213; RFC 5861).
package struct ResponseDirectives: Sendable, Hashable {
  let control: CacheControl
  /// Whether there is an `Expires` that counts: it is ignored if there are directives for shared caches.
  let hasExpires: Bool
  private let isShared: Bool

  init(_ fields: HTTP.Fields, isShared: Bool) {
    let targeted = isShared ? CacheControl(targeted: fields) : nil
    self.control = targeted ?? CacheControl(fields)
    hasExpires = targeted == nil && fields.contains("expires")
    self.isShared = isShared
  }

  /// Whether the origin must confirm the response before each use.
  var needsRevalidation: Bool { control.fieldNames("no-cache")?.isEmpty == true }

  /// The fields that must not be used without a confirmation, in lower case.
  package var fieldsWithRevalidation: [String] { control.fieldNames("no-cache") ?? [] }

  /// Those fields, and the ones that a shared cache must not store, in lower case.
  var fieldsOfOneUse: [String] { fieldsWithRevalidation + (isShared ? control.fieldNames("private") ?? [] : []) }

  /// Whether the cache is shared and must not store the response.
  var isPrivate: Bool { isShared && control.fieldNames("private")?.isEmpty == true }

  /// The directive that forbids using the response stale; `nil` if none does.
  var staleProhibition: String? {
    let names = ["must-revalidate", "no-cache"] + (isShared ? ["proxy-revalidate", "s-maxage"] : [])
    return names.first { $0 == "no-cache" ? needsRevalidation : control.contains($0) }
  }

  /// The name of the directive that says how long the response is fresh; `nil` if none does.
  var lifetimeName: String? { (isShared ? ["s-maxage", "max-age"] : ["max-age"]).first(where: control.contains) }

  /// Whether the response itself says for how long it is fresh.
  var hasLifetime: Bool { lifetimeName != nil || hasExpires }

  /// How long the response can be used stale while it is revalidated; `nil` if it does not say.
  var staleWhileRevalidate: Duration? { control.seconds("stale-while-revalidate") }

  /// How long the response can be used stale if the origin fails; `nil` if it does not say.
  var staleIfError: Duration? { control.seconds("stale-if-error") }
}
