/// A position in a text.
public struct SourcePlace: Sendable, Hashable, CustomStringConvertible {
  /// The line, from 1. Lines end with a line feed.
  public let line: Int
  /// The column, from 1, in characters (Unicode scalars).
  public let column: Int

  /// Creates a position.
  public init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }

  /// "line:column".
  public var description: String { "\(line):\(column)" }
}
