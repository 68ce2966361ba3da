/// A text on a terminal, right above the cursor's line, which another text can replace.
public struct DrawnText: Sendable, Hashable {
  /// The text: whole lines, whose only escape sequences are those of `TextStyle`.
  public let text: String
  /// The terminal as it was when the text was written.
  public let screen: Screen

  /// The text `text` on `screen`.
  public init(_ text: String, on screen: Screen) {
    self.text = text
    self.screen = screen
  }

  /// Whether all of the text is visible, with a line left for the cursor: text that has scrolled away cannot be
  /// reached. False on a screen of unknown size.
  public var isReplaceable: Bool {
    guard let rows, let height = screen.height else { return false }
    return rows < height
  }

  /// The number of terminal lines that the text takes, including wrapped ones; `nil` if the width is unknown.
  public var rows: Int? {
    guard let width = screen.width, width > 0 else { return nil }
    return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
      .reduce(0) { $0 + Self.rows(of: $1, width: width) }
  }

  /// The sequence that makes the terminal show `other` instead, with the cursor below it; `nil` if that is impossible.
  ///
  /// It uses ECMA-48: "cursor up" (8.3.22) and "erase in page" (8.3.39), to the end of the screen.
  public func replacement(by other: String) -> String? {
    guard isReplaceable, let rows else { return nil }
    let up = rows > 0 ? "\u{1B}[\(rows)A" : ""
    return "\r\(up)\u{1B}[J\(other)"
  }

  /// A wide character that does not fit at the end of a line moves to the next one.
  private static func rows(of line: Substring, width: Int) -> Int {
    var (rows, column, isEscape) = (1, 0, false)
    for character in line {
      if isEscape || character == "\u{1B}" {
        isEscape = !character.isLetter
        continue
      }
      let cells = DisplayWidth.width(String(character))
      column += cells
      if column > width { (rows, column) = (rows + 1, cells) }
    }
    return rows
  }
}
