/// A position in a text.
public struct SourcePlace: Sendable, Hashable, CustomStringConvertible {
  /// The line, from 1. Lines end with a line feed.
  public private(set) var line: Int
  /// The column, from 1, in characters (Unicode scalars).
  public private(set) var column: Int

  /// Creates a position; without arguments the beginning of a text.
  public init(line: Int = 1, column: Int = 1) {
    self.line = line
    self.column = column
  }

  /// The position at `offset` in the UTF-8 text `text`. Cost: a pass over the bytes before it.
  package init(of offset: Int, in text: Span<UInt8>) {
    self.init()
    advance(over: text.extracting(first: offset))
  }

  /// Moves the position over `text`, which is UTF-8 and follows it.
  package mutating func advance(over text: Span<UInt8>) {
    for index in text.indices {
      let byte = text[index]
      if byte == UInt8(ascii: "\n") {
        (line, column) = (line + 1, 1)
      } else if byte & 0xC0 != 0x80 {
        column += 1
      }
    }
  }

  /// "line:column".
  public var description: String { "\(line):\(column)" }
}
