/// A JSON text (RFC 8259) whose keys and values know where they stand in it.
///
/// Foundation's parser keeps no places; an error in a file that a person wrote must name one. It is for files of
/// moderate size that are read into one tree; `JSONReader` is for records that are read fast.
package struct JSONDocument: Sendable {
  /// A value and where it begins.
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
    /// The digits as they stand in the text, so that nothing is rounded.
    case number(String)
    case text(String)
    case array([Node])
    case object([Member])

    /// What a person calls such a value, with its article.
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

  /// The value that the text is.
  package let root: Node

  /// The document that `bytes` are the UTF-8 of. A byte order mark in front is ignored. Linear in the number of bytes.
  ///
  /// - Parameter allowsRepeatedKeys: whether a key may occur more than once in an object, as RFC 8259 allows.
  /// - Throws: `SyntaxError` where the bytes are not UTF-8 or not JSON, a key is repeated, or the nesting is deeper than
  ///   `JSONParser.maximumDepth`.
  package init(parsing bytes: [UInt8], allowsRepeatedKeys: Bool = false) throws(SyntaxError) {
    var parser = JSONParser(bytes, allowsRepeatedKeys: allowsRepeatedKeys)
    root = try parser.document()
  }
}
