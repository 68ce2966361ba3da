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
