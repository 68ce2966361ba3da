/// A JSON text (RFC 8259) that knows the positions of its keys and values.
///
/// Foundation's parser keeps no positions, but an error in a file that a person wrote must name one. Meant for files of
/// moderate size that are read into a tree; `JSONReader` reads records fast.
package struct JSONDocument: Sendable {
  /// A value, and where it begins.
  package struct Node: Sendable {
    package let place: SourcePlace
    package let value: Value
  }

  /// One key of an object, in the order of the text.
  package struct Member: Sendable {
    package let key: String
    package let place: SourcePlace
    package let node: Node
  }

  package enum Value: Sendable {
    case null
    case boolean(Bool)
    /// The digits as written in the text, so that nothing is rounded.
    case number(String)
    case text(String)
    case array([Node])
    case object([Member])

    /// What people call such a value, with its article.
    package var noun: String {
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
  package struct SyntaxError: Error, Hashable {
    package let place: SourcePlace
    package let message: String
  }

  /// The value of the whole text.
  package let root: Node

  /// Parses UTF-8 text. Ignores a byte order mark at the beginning. Cost: linear.
  ///
  /// - Parameter allowsRepeatedKeys: whether a key may occur more than once in an object, as RFC 8259 allows.
  /// - Throws: `SyntaxError` if the bytes are not UTF-8 or not JSON, a key is repeated, or the nesting is deeper than
  ///   `JSONParser.maximumDepth`.
  package init(parsing bytes: [UInt8], allowsRepeatedKeys: Bool = false) throws(SyntaxError) {
    var parser = JSONParser(bytes, allowsRepeatedKeys: allowsRepeatedKeys)
    root = try parser.document()
  }
}
