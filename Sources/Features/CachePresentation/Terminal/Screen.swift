/// The screen, file or pipe that will show the text.
public struct Screen: Sendable, Hashable {
  /// The number of cells in a line; `nil` if lines can have any length, as in a file or a pipe.
  public let width: Int?
  /// The number of lines; `nil` if unknown, or if the cursor cannot move between lines.
  public let height: Int?
  /// Whether color sequences can be sent.
  public let hasColor: Bool
  /// Whether this is a terminal, to which control characters must never be sent.
  public let isTerminal: Bool

  /// A terminal with `height` lines of `width` cells; `nil` means unknown.
  public static func terminal(width: Int?, height: Int? = nil, hasColor: Bool) -> Screen {
    Screen(width: width, height: height, hasColor: hasColor, isTerminal: true)
  }

  /// This screen with lines of any length, for text that must not be cut.
  package var unlimited: Screen { Screen(width: nil, height: height, hasColor: hasColor, isTerminal: isTerminal) }

  /// A file or a pipe: no colors, lines of any length.
  public static let file = Screen(width: nil, height: nil, hasColor: false, isTerminal: false)
}

/// The style of a piece of text.
public enum TextStyle: Sendable, Hashable {
  /// Like ordinary text.
  case plain
  /// A heading.
  case bold
  /// For details.
  case dim
  /// For success.
  case green
  /// For attention.
  case yellow
  /// For failure.
  case red

  /// The parameter of "select graphic rendition" (ECMA-48, 8.3.117); `nil` for plain text.
  private var parameter: Int? {
    switch self {
    case .plain: nil
    case .bold: 1
    case .dim: 2
    case .green: 32
    case .yellow: 33
    case .red: 31
    }
  }

  /// `text` in this style: with escape sequences if `hasColor` is set, otherwise unchanged.
  public func apply(_ text: String, hasColor: Bool) -> String {
    guard hasColor, let parameter, !text.isEmpty else { return text }
    return "\u{1B}[\(parameter)m\(text)\u{1B}[0m"
  }
}

/// Measures and cuts text by the cells that it takes on a terminal.
///
/// A character as people see it (a grapheme cluster) takes one cell, or two if it is wide: East Asian Wide and
/// Fullwidth (Unicode Standard Annex 11, https://www.unicode.org/Public/16.0.0/ucd/EastAsianWidth.txt), and emoji.
/// Combining marks and format characters alone take none. Pass the text through `TerminalText` first.
public enum DisplayWidth {
  /// The mark that shows where text was cut.
  public static let ellipsis = "…"

  /// The number of cells that `text` takes. Cost: linear, and fast for ASCII.
  public static func width(_ text: String) -> Int {
    if text.utf8.allSatisfy({ 0x20..<0x7F ~= $0 }) { return text.utf8.count }
    return text.reduce(0) { $0 + width($1) }
  }

  /// `text` cut to at most `limit` cells, including the ellipsis. A `limit` below 1 leaves nothing.
  public static func truncated(_ text: String, to limit: Int) -> String {
    guard width(text) > limit else { return text }
    guard limit > 0 else { return "" }
    var output = ""
    var used = 1
    for character in text {
      used += width(character)
      if used > limit { break }
      output.append(character)
    }
    while output.last == " " { output.removeLast() }
    return output + ellipsis
  }

  /// `text` cut in its middle to at most `limit` cells, including the ellipsis, so that both ends stay. If it first differs
  /// from one of `others` in the part that is cut out, it is cut around that place: "http://a.exam…/list?page=2&siz…".
  public static func truncatedInMiddle(_ text: String, to limit: Int, differingFrom others: [String] = []) -> String {
    guard width(text) > limit else { return text }
    guard limit > 1 else { return truncated(text, to: limit) }
    let tail = prefix(text.reversed(), of: (limit - 1) / 2)
    if let place = others.compactMap({ firstDifference(in: text, from: $0) }).max(), limit > 8,
      text.utf8.count == width(text), limit - 1 - tail.count <= place, place < text.utf8.count - tail.count
    {
      let head = limit * 2 / 5
      let window = limit - head - 2
      let rest = text.utf8.dropFirst(max(head + 1, place - window * 2 / 3))
      return "\(Substring(text.utf8.prefix(head)))\(ellipsis)\(Substring(rest.prefix(window)))\(ellipsis)"
    }
    let head = prefix(text, of: limit - 1 - (limit - 1) / 2)
    return String(head) + ellipsis + String(tail.reversed())
  }

  /// The first byte in which `text` differs from `other`; `nil` if it does not, or differs from the start.
  private static func firstDifference(in text: String, from other: String) -> Int? {
    let place = zip(text.utf8, other.utf8).prefix { $0 == $1 }.count
    return place < text.utf8.count && place > 0 ? place : nil
  }

  /// The first of `characters` that fit into `limit` cells.
  private static func prefix(_ characters: some Sequence<Character>, of limit: Int) -> [Character] {
    var used = 0
    return characters.prefix { character in
      used += width(character)
      return used <= limit
    }
  }

  private static func width(_ character: Character) -> Int {
    if character.isASCII { return character == "\r\n" ? 0 : 1 }
    let scalars = character.unicodeScalars
    if scalars.contains("\u{FE0F}"), scalars.first?.properties.isEmoji == true { return 2 }
    return scalars.reduce(0) { max($0, width($1)) }
  }

  private static func width(_ scalar: Unicode.Scalar) -> Int {
    if scalar.properties.isEmojiPresentation || isWide(scalar) { return 2 }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark: return 0
    // The soft hyphen is the only format character to which terminals give a cell.
    case .format: return scalar == "\u{AD}" ? 1 : 0
    default: return 1
    }
  }

  /// Whether `scalar` is Wide or Fullwidth and not an emoji. Unassigned code points between wide ones count as wide,
  /// which keeps the ranges few.
  private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
    guard scalar.value >= 0x1100 else { return false }
    switch scalar.value {
    case 0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x3247, 0x3250...0xA4C6, 0xA960...0xA97C,
      0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6,
      0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x1D300...0x1D376, 0x1F200...0x1F265, 0x20000...0x3FFFD:
      return scalar.properties.generalCategory != .nonspacingMark
    default: return false
    }
  }
}

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
