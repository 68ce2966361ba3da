/// Keeps messages short: what they quote is as long as a server or a command line makes it.
enum MessageText {
  /// The longest part of a message without a space, such as a path, a URL or a header field, in Unicode scalars.
  static let longestWord = 200
  /// The longest message, in Unicode scalars.
  static let longestMessage = 1_000
  /// The longest hint, in Unicode scalars. Its words stay whole: a command in it is there to be copied.
  static let longestHint = 4_000

  /// `text` as a message.
  static func message(_ text: String) -> String {
    guard text.utf8.count > longestWord else { return text }
    let words = text.split(separator: " ", omittingEmptySubsequences: false).map { cut(String($0), to: longestWord) }
    return cut(words.joined(separator: " "), to: longestMessage)
  }

  /// `text` as a hint.
  static func hint(_ text: String) -> String { cut(text, to: longestHint) }

  /// `text` cut in the middle, because the end of a path or a URL says more than its middle, to at most `limit` Unicode
  /// scalars. Escapes, such as `\u{1B}`, stay whole.
  static func cut(_ text: String, to limit: Int) -> String {
    guard text.utf8.count > limit else { return text }
    let scalars = Array(text.unicodeScalars)
    guard scalars.count > limit else { return text }
    let (lastEnd, firstStart) = (limit / 2, scalars.count - (limit - limit / 2 - 1))
    var (position, end) = (0, 0)
    while position < firstStart {
      if position <= lastEnd { end = position }
      position += lengthOfUnit(scalars[position...])
    }
    // A mark would combine with the sign of the cut.
    while position < scalars.count, scalars[position].properties.isGraphemeExtend { position += 1 }
    var short = String.UnicodeScalarView(scalars[..<end])
    short.append("…")
    short.append(contentsOf: scalars.dropFirst(position))
    return String(short)
  }

  /// The number of scalars at the start of `scalars` that belong together: one, or those of an escape.
  private static func lengthOfUnit(_ scalars: ArraySlice<Unicode.Scalar>) -> Int {
    guard scalars.first == "\\", let kind = scalars.dropFirst().first else { return 1 }
    guard kind == "u" else { return 2 }
    guard scalars.dropFirst(2).first == "{" else { return 6 }
    return (scalars.prefix(12).firstIndex(of: "}") ?? scalars.startIndex) - scalars.startIndex + 1
  }
}
