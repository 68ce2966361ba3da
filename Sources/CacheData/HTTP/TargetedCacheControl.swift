/// `CDN-Cache-Control` (RFC 9213): directives for shared caches, which stand in for `Cache-Control` and `Expires`.
enum TargetedCacheControl {
  /// The directives of `fields` for shared caches; `nil` where the field is absent, empty, or malformed, in which case
  /// RFC 9213, section 2.1, has it ignored as a whole.
  static func directives(_ fields: HTTPFields) -> CacheControl? {
    guard let value = fields["cdn-cache-control"] else { return nil }
    let members = value.split(separator: ",", omittingEmptySubsequences: false).map { FieldList.trimmed($0) }
    guard !members.isEmpty, members.allSatisfy(isMember) else { return nil }
    return CacheControl(members.map(withoutParameters))
  }

  private static func withoutParameters(_ member: Substring) -> String {
    String(FieldList.trimmed(member.prefix { $0 != ";" }))
  }

  /// Whether `member` is a member of a dictionary of structured fields (RFC 8941, section 3.2).
  private static func isMember(_ member: Substring) -> Bool {
    let text = withoutParameters(member)
    let key = text.prefix { $0 != "=" }
    guard let first = key.first, first == "*" || first.isLowercaseLetter,
      key.allSatisfy({ $0.isLowercaseLetter || $0.isDigit || "_-.*".contains($0) })
    else { return false }
    return key.count == text.count || isItem(text.dropFirst(key.count + 1))
  }

  private static func isItem(_ item: Substring) -> Bool {
    guard let first = item.first else { return false }
    switch first {
    case "?": return item == "?0" || item == "?1"
    case "\"": return item.count >= 2 && item.last == "\""
    case "-", "0"..."9": return Double(item) != nil && item.utf8.count <= 16
    default: return !item.contains { $0.isWhitespace || "\"(),;=".contains($0) }
    }
  }
}

extension Character {
  fileprivate var isLowercaseLetter: Bool { ("a"..."z").contains(self) }
  fileprivate var isDigit: Bool { ("0"..."9").contains(self) }
}
