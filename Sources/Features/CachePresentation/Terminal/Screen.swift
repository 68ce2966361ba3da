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
