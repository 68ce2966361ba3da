/// `CDN-Cache-Control` (RFC 9213): directives for shared caches, which stand in for `Cache-Control` and `Expires`.
enum TargetedCacheControl {
  /// The directives of `fields` for shared caches; `nil` where the field is absent, empty, or malformed, in which case
  /// RFC 9213, section 2.1, has it ignored as a whole.
  static func directives(_ fields: HTTPFields) -> CacheControl? {
    guard let value = fields["cdn-cache-control"], let dictionary = StructuredDictionary(value),
      !dictionary.members.isEmpty
    else { return nil }
    return CacheControl(dictionary)
  }
}
