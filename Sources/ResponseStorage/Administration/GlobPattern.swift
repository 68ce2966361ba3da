/// A pattern for keys: `*` matches any text, slashes and nothing at all included; every other character matches itself.
public struct GlobPattern: Sendable, Hashable {
  /// The texts before, between and after the stars.
  private let parts: [Substring.UTF8View]

  /// The pattern as it was written.
  public let text: String

  /// The pattern `text`.
  public init(_ text: String) {
    self.text = text
    parts = text.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false)
  }

  /// What everything that matches begins with: the text before the first star.
  var prefix: String { parts.first.map { String(Substring($0)) } ?? "" }

  /// Whether all of `text` matches. Cost: linear but for parts that repeat themselves.
  func matches(_ text: String) -> Bool {
    guard let first = parts.first, let last = parts.last, text.utf8.starts(with: first) else { return false }
    guard parts.count > 1 else { return text.utf8.count == first.count }
    var rest = text.utf8.dropFirst(first.count)
    // Each part at the first place where it fits: what comes after it then has the most room.
    for part in parts.dropFirst().dropLast() {
      guard let end = Self.end(of: part, in: rest) else { return false }
      rest = rest[end...]
    }
    return rest.count >= last.count && rest.suffix(last.count).elementsEqual(last)
  }

  private static func end(of part: Substring.UTF8View, in text: Substring.UTF8View) -> String.Index? {
    var rest = text
    while rest.count >= part.count {
      if rest.starts(with: part) { return rest.index(rest.startIndex, offsetBy: part.count) }
      rest = rest.dropFirst()
    }
    return nil
  }

  /// Whether two patterns are written alike.
  public static func == (left: GlobPattern, right: GlobPattern) -> Bool { left.text == right.text }

  /// Hashes what is compared.
  public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}
