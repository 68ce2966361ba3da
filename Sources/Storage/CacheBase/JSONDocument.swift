/// A JSON text (RFC 8259) that knows the positions of its keys and values.
///
/// Foundation's parser keeps no positions, but an error in a file that a person wrote must name one. Meant for files of
/// moderate size that are read into a tree; `JSONReader`, which it is based on, reads records fast.
package struct JSONDocument: Sendable {
  /// A value and its position.
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

    /// The noun for such a value in a message, with its article.
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

  /// How deep arrays and objects can be nested. It limits the recursion.
  static let maximumDepth = 32

  /// The value of the whole text.
  package let root: Node

  /// Parses UTF-8 text. Ignores a byte order mark at the beginning. Cost: linear.
  ///
  /// - Parameter allowsRepeatedKeys: whether a key can occur more than once in an object, as RFC 8259 allows.
  /// - Throws: `SyntaxError` if the bytes are not UTF-8 or not JSON, a key is repeated, or the nesting is deeper than
  ///   `maximumDepth`.
  package init(parsing bytes: [UInt8], allowsRepeatedKeys: Bool = false) throws(SyntaxError) {
    let text = bytes.span.extracting(droppingFirst: bytes.count - bytes[...].droppingByteOrderMark().count)
    var (json, builder) = (JSONReader(text), TreeBuilder(allowsRepeatedKeys: allowsRepeatedKeys))
    do throws(JSONReader.Failure) {
      root = try builder.node(&json, depth: 0)
      try json.end()
    } catch {
      throw SyntaxError(place: SourcePlace(of: error.offset, in: text), message: error.message)
    }
  }
}

/// Builds the tree of a document from what a reader finds.
private struct TreeBuilder {
  typealias Failure = JSONReader.Failure

  let allowsRepeatedKeys: Bool
  /// The last requested position and its offset. Counting for the next one starts there.
  private var last = (place: SourcePlace(), offset: 0)

  init(allowsRepeatedKeys: Bool) { self.allowsRepeatedKeys = allowsRepeatedKeys }

  /// Reads the next value.
  mutating func node(_ json: inout JSONReader, depth: Int) throws(Failure) -> JSONDocument.Node {
    json.skipSpace()
    let place = place(at: json.offset, in: json)
    return JSONDocument.Node(place: place, value: try value(&json, depth: depth))
  }

  private mutating func value(_ json: inout JSONReader, depth: Int) throws(Failure) -> JSONDocument.Value {
    switch json.peek() {
    case UInt8(ascii: "{"): return .object(try members(&json, depth: try nested(depth, json)))
    case UInt8(ascii: "["):
      let inner = try nested(depth, json)
      return .array(try json.array { json throws(Failure) in try node(&json, depth: inner) })
    case UInt8(ascii: "\""): return .text(try json.string())
    case UInt8(ascii: "n") where json.skip(word: "null"): return .null
    case UInt8(ascii: "t") where json.skip(word: "true"): return .boolean(true)
    case UInt8(ascii: "f") where json.skip(word: "false"): return .boolean(false)
    default: return .number(try json.numberText())
    }
  }

  private mutating func members(_ json: inout JSONReader, depth: Int) throws(Failure) -> [JSONDocument.Member] {
    var members: [JSONDocument.Member] = []
    try json.members(allowsRepeatedKeys: allowsRepeatedKeys) { json, key, start throws(Failure) in
      let place = place(at: start, in: json)
      members.append(JSONDocument.Member(key: key, place: place, node: try node(&json, depth: depth)))
    }
    return members
  }

  private func nested(_ depth: Int, _ json: JSONReader) throws(Failure) -> Int {
    guard depth < JSONDocument.maximumDepth else {
      throw json.failure("nested deeper than \(JSONDocument.maximumDepth) levels")
    }
    return depth + 1
  }

  private mutating func place(at offset: Int, in json: JSONReader) -> SourcePlace {
    let passed = json.bytes.part(last.offset..<offset)
    last.place.advance(over: passed.span)
    last.offset = offset
    return last.place
  }
}

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
