/// What is known of where text is going to be shown.
public struct Screen: Sendable, Hashable {
  /// The number of cells of a line; `nil` where lines may be of any length, as in a file or a pipe.
  public let width: Int?
  /// The number of lines; `nil` where that is unknown, or the cursor cannot be moved from line to line.
  public let height: Int?
  /// Whether escape sequences for colours may be sent.
  public let hasColor: Bool
  /// Whether this is a terminal, to which control characters must never be sent.
  public let isTerminal: Bool

  /// A terminal with `height` lines of `width` cells (`nil` where that is unknown).
  public static func terminal(width: Int?, height: Int? = nil, hasColor: Bool) -> Screen {
    Screen(width: width, height: height, hasColor: hasColor, isTerminal: true)
  }

  /// The same with lines of any length, for text of which nothing is to be cut.
  var unlimited: Screen { Screen(width: nil, height: height, hasColor: hasColor, isTerminal: isTerminal) }

  /// A file or a pipe: no colours, lines of any length.
  public static let file = Screen(width: nil, height: nil, hasColor: false, isTerminal: false)
}
