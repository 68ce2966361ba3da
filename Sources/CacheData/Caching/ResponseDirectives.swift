/// What a response demands of the cache that stores it (RFC 9111, section 5.2.2; RFC 9213; RFC 5861).
struct ResponseDirectives: Sendable, Hashable {
  let control: CacheControl
  /// Whether the directives are those for shared caches alone, beside which `Expires` says nothing.
  let isTargeted: Bool
  private let isShared: Bool

  init(_ fields: HTTPFields, isShared: Bool) {
    let targeted = isShared ? TargetedCacheControl.directives(fields) : nil
    self.control = targeted ?? CacheControl(fields)
    self.isTargeted = targeted != nil
    self.isShared = isShared
  }

  /// Whether each use needs a confirmation by the origin.
  var needsRevalidation: Bool { control.fieldNames("no-cache")?.isEmpty == true }

  /// The fields that may not be used without a confirmation, in lower case.
  var fieldsWithRevalidation: [String] { control.fieldNames("no-cache") ?? [] }

  /// The fields that a shared cache may not store, in lower case.
  var privateFields: [String] { isShared ? control.fieldNames("private") ?? [] : [] }

  /// Whether a shared cache may not store the response.
  var isPrivate: Bool { isShared && control.fieldNames("private")?.isEmpty == true }

  /// Why the response may never be used stale; `nil` where it may.
  var staleProhibition: String? {
    let names = ["must-revalidate", "no-cache"] + (isShared ? ["proxy-revalidate", "s-maxage"] : [])
    return names.first { $0 == "no-cache" ? needsRevalidation : control.contains($0) }
  }

  /// The greatest age at which it is fresh, as a directive says it, and that directive's name.
  var maxAge: (name: String, argument: SecondsArgument)? {
    let names = isShared ? ["s-maxage", "max-age"] : ["max-age"]
    return names.lazy.map { ($0, control.seconds($0)) }.first { $0.1 != .absent }
  }

  /// For how long it may be used stale while it is revalidated; `nil` where nothing is said.
  var staleWhileRevalidate: Duration? { control.seconds("stale-while-revalidate").duration }

  /// For how long it may be used stale where the origin fails; `nil` where nothing is said.
  var staleIfError: Duration? { control.seconds("stale-if-error").duration }
}
