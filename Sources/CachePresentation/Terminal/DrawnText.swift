/// A text as it stands on a terminal, right above the line of the cursor, where another can be drawn in its place.
public struct DrawnText: Sendable, Hashable {
  /// What was written: whole lines, whose only escape sequences are those of `TextStyle`.
  public let text: String
  /// The terminal, as it was when the text was written.
  public let screen: Screen

  /// The text `text` on `screen`.
  public init(_ text: String, on screen: Screen) {
    self.text = text
    self.screen = screen
  }

  /// Whether all of the text is in sight, with a line to spare for the cursor: what has been scrolled away cannot be
  /// reached. It is not known on a screen of unknown size.
  public var isReplaceable: Bool {
    guard let rows, let height = screen.height else { return false }
    return rows < height
  }

  /// The lines of the terminal that the text takes up, a wrapped one counted as several; `nil` where their width is
  /// unknown.
  public var rows: Int? {
    guard let width = screen.width, width > 0 else { return nil }
    return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
      .reduce(0) { $0 + Self.rows(of: $1, width: width) }
  }

  /// What makes the terminal show `other` instead, with the cursor below it; `nil` where that cannot be done.
  ///
  /// The sequences are those of ECMA-48: "cursor up" (8.3.22) and "erase in page" (8.3.39), to the end of the screen.
  public func replacement(by other: String) -> String? {
    guard isReplaceable, let rows else { return nil }
    let up = rows > 0 ? "\u{1B}[\(rows)A" : ""
    return "\r\(up)\u{1B}[J\(other)"
  }

  /// A wide character that does not fit at the end of a line goes to the next one as a whole.
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
