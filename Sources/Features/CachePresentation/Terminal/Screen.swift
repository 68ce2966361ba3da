/// The screen, file or pipe that will show the text.
public struct Screen: Sendable, Hashable {
  /// The number of cells in a line; `nil` if lines may have any length, as in a file or a pipe.
  public let width: Int?
  /// The number of lines; `nil` if unknown, or if the cursor cannot move between lines.
  public let height: Int?
  /// Whether colour sequences may be sent.
  public let hasColor: Bool
  /// Whether this is a terminal, to which control characters must never be sent.
  public let isTerminal: Bool

  /// A terminal with `height` lines of `width` cells; `nil` means unknown.
  public static func terminal(width: Int?, height: Int? = nil, hasColor: Bool) -> Screen {
    Screen(width: width, height: height, hasColor: hasColor, isTerminal: true)
  }

  /// This screen with lines of any length, for text that must not be cut.
  package var unlimited: Screen { Screen(width: nil, height: height, hasColor: hasColor, isTerminal: isTerminal) }

  /// A file or a pipe: no colours, lines of any length.
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
