/// `CDN-Cache-Control` (RFC 9213): directives for shared caches, which replace `Cache-Control` and `Expires`.
enum TargetedCacheControl {
  /// The directives for shared caches in `fields`; `nil` if the field is absent, empty or malformed. RFC 9213, section
  /// 2.1, tells caches to ignore a malformed field altogether.
  static func directives(_ fields: HTTPFields) -> CacheControl? {
    guard let value = fields["cdn-cache-control"], let dictionary = StructuredDictionary(value),
      !dictionary.members.isEmpty
    else { return nil }
    return CacheControl(dictionary)
  }
}
