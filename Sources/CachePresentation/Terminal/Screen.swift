/// What is known of where text is going to be shown.
public struct Screen: Sendable, Hashable {
  /// The number of cells of a line; `nil` where lines may be of any length, as in a file or a pipe.
  public let width: Int?
  /// Whether escape sequences for colours may be sent.
  public let hasColor: Bool
  /// Whether this is a terminal, to which control characters must never be sent.
  public let isTerminal: Bool

  /// A terminal with lines of `width` cells (`nil` where that is unknown).
  public static func terminal(width: Int?, hasColor: Bool) -> Screen {
    Screen(width: width, hasColor: hasColor, isTerminal: true)
  }

  /// The same with lines of any length, for text of which nothing is to be cut.
  var unlimited: Screen { Screen(width: nil, hasColor: hasColor, isTerminal: isTerminal) }

  /// A file or a pipe: no colours, lines of any length.
  public static let file = Screen(width: nil, hasColor: false, isTerminal: false)
}
