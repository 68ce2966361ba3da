/// A JSON text (RFC 8259) whose keys and values know where they stand in it.
///
/// Foundation's parser keeps no places; an error of the configuration must name one.
struct ConfigurationDocument: Sendable {
  /// A value and where it begins.
  struct Node: Sendable {
    let place: SourcePlace
    let value: Value
  }

  /// One key of an object, in the order of the text.
  struct Member: Sendable {
    let key: String
    let place: SourcePlace
    let node: Node
  }

  enum Value: Sendable {
    case null
    case boolean(Bool)
    /// The digits as they stand in the text, so that nothing is rounded.
    case number(String)
    case text(String)
    case array([Node])
    case object([Member])

    /// What a person calls such a value, with its article.
    var noun: String {
      switch self {
      case .null: "null"
      case .boolean: "a boolean"
      case .number: "a number"
      case .text: "a text"
      case .array: "a list"
      case .object: "an object"
      }
    }
  }

  /// Why a text is not JSON, and where.
  struct SyntaxError: Error, Hashable {
    let place: SourcePlace
    let message: String
  }

  let root: Node

  /// The document that `bytes` are the UTF-8 of. A byte order mark in front is ignored. Linear in the number of bytes.
  ///
  /// - Throws: `SyntaxError` where the bytes are not UTF-8 or not JSON, a key occurs twice in an object, or the
  ///   nesting is deeper than `JSONParser.maximumDepth`.
  init(parsing bytes: [UInt8]) throws(SyntaxError) {
    var parser = JSONParser(bytes)
    root = try parser.document()
  }
}

/// A place in a text.
public struct SourcePlace: Sendable, Hashable, CustomStringConvertible {
  /// The line, from 1. Lines end with a line feed.
  public let line: Int
  /// The column, from 1, in characters (Unicode scalars).
  public let column: Int

  /// The place in `line` and `column`.
  public init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }

  /// "line:column".
  public var description: String { "\(line):\(column)" }
}
