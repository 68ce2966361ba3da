/// A pattern for keys: `*` matches any text, including slashes and no text at all; every other character matches
/// itself.
public struct GlobPattern: Sendable, Hashable {
  /// The texts before, between and after the stars.
  private let parts: [Substring.UTF8View]

  /// The pattern as written.
  public let text: String

  /// Creates the pattern written as `text`.
  public init(_ text: String) {
    self.text = text
    parts = text.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false)
  }

  /// The prefix of all matching texts: the text before the first star.
  var prefix: String { parts.first.map { String(Substring($0)) } ?? "" }

  /// Whether the whole of `text` matches. Cost: linear, unless parts of the text repeat.
  func matches(_ text: String) -> Bool {
    guard let first = parts.first, let last = parts.last, text.utf8.starts(with: first) else { return false }
    guard parts.count > 1 else { return text.utf8.count == first.count }
    var rest = text.utf8.dropFirst(first.count)
    // Match each part as early as possible: that leaves the most room for the parts after it.
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

  /// Whether two patterns are written in the same way.
  public static func == (left: GlobPattern, right: GlobPattern) -> Bool { left.text == right.text }

  /// Hashes the pattern's text.
  public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}
