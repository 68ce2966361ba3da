/// A strict recursive-descent parser for RFC 8259. See `JSONDocument`.
struct JSONParser {
  typealias Document = JSONDocument

  /// How deep arrays and objects may be nested. It limits the recursion.
  static let maximumDepth = 32

  let bytes: [UInt8]
  private(set) var offset = 0
  private var line = 1
  /// Where the line would begin if each of its characters so far were one byte long.
  private var lineStart = 0

  private let allowsRepeatedKeys: Bool

  init(_ bytes: [UInt8], allowsRepeatedKeys: Bool) {
    (self.bytes, self.allowsRepeatedKeys) = (bytes, allowsRepeatedKeys)
  }

  /// The position of the next byte.
  var place: SourcePlace { SourcePlace(line: line, column: offset - lineStart + 1) }

  /// The next byte; `nil` at the end.
  var peek: UInt8? { offset < bytes.count ? bytes[offset] : nil }

  mutating func document() throws(Document.SyntaxError) -> Document.Node {
    try checkEncoding()
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { (offset, lineStart) = (3, 3) }
    skipSpace()
    let root = try value(depth: 0)
    skipSpace()
    if peek != nil { throw expected("the end of the text") }
    return root
  }

  /// Skips the next byte, and counts lines and columns.
  mutating func advance() {
    let byte = bytes[offset]
    offset += 1
    if byte == UInt8(ascii: "\n") {
      line += 1
      lineStart = offset
    } else if byte & 0xC0 == 0x80 {
      lineStart += 1
    }
  }

  /// Skips the next byte if it is `character`, and returns whether it was.
  mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard peek == UInt8(ascii: character) else { return false }
    advance()
    return true
  }

  /// The error that `what` was expected at the current position.
  func expected(_ what: String) -> Document.SyntaxError {
    Document.SyntaxError(place: place, message: "expected \(what), found \(nextThing)")
  }

  private var nextThing: String {
    let rest = String(decoding: bytes[offset...].prefix(4), as: UTF8.self)
    guard let scalar = rest.unicodeScalars.first else { return "the end of the text" }
    return scalar.properties.generalCategory == .control ? "a control character" : "'\(scalar)'"
  }

  private mutating func skipSpace() {
    while let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { advance() }
  }

  private mutating func value(depth: Int) throws(Document.SyntaxError) -> Document.Node {
    let start = place
    guard let byte = peek else { throw expected("a value") }
    let value: Document.Value =
      switch byte {
      case UInt8(ascii: "{"): .object(try object(depth: depth))
      case UInt8(ascii: "["): .array(try array(depth: depth))
      case UInt8(ascii: "\""): .text(try string())
      case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): .number(try number())
      default: try literal()
      }
    return Document.Node(place: start, value: value)
  }

  private mutating func array(depth: Int) throws(Document.SyntaxError) -> [Document.Node] {
    try enter(depth)
    var nodes: [Document.Node] = []
    if take("]") { return nodes }
    repeat {
      skipSpace()
      nodes.append(try value(depth: depth + 1))
      skipSpace()
    } while take(",")
    guard take("]") else { throw expected("',' or ']'") }
    return nodes
  }

  private mutating func object(depth: Int) throws(Document.SyntaxError) -> [Document.Member] {
    try enter(depth)
    var members: [Document.Member] = []
    var keys: Set<String> = []
    if take("}") { return members }
    repeat {
      skipSpace()
      let member = try member(depth: depth)
      guard keys.insert(member.key).inserted || allowsRepeatedKeys else {
        let key = JSONString.quoted(member.key)
        throw Document.SyntaxError(place: member.place, message: "the key \(key) occurs twice")
      }
      members.append(member)
      skipSpace()
    } while take(",")
    guard take("}") else { throw expected("',' or '}'") }
    return members
  }

  private mutating func member(depth: Int) throws(Document.SyntaxError) -> Document.Member {
    let start = place
    guard peek == UInt8(ascii: "\"") else { throw expected("a key in double quotes") }
    let key = try string()
    skipSpace()
    guard take(":") else { throw expected("':'") }
    skipSpace()
    return Document.Member(key: key, place: start, node: try value(depth: depth + 1))
  }

  /// Skips an opening bracket and the white space after it.
  private mutating func enter(_ depth: Int) throws(Document.SyntaxError) {
    guard depth < Self.maximumDepth else {
      throw Document.SyntaxError(place: place, message: "nested deeper than \(Self.maximumDepth) levels")
    }
    advance()
    skipSpace()
  }

  private mutating func literal() throws(Document.SyntaxError) -> Document.Value {
    for (text, value) in [("true", Document.Value.boolean(true)), ("false", .boolean(false)), ("null", .null)]
    where bytes[offset...].starts(with: text.utf8) {
      for _ in text.utf8 { advance() }
      return value
    }
    throw expected("a value")
  }

  private mutating func checkEncoding() throws(Document.SyntaxError) {
    do { _ = try UTF8Span(validating: bytes.span) } catch {
      while offset < error.byteOffsets.lowerBound { advance() }
      throw Document.SyntaxError(place: place, message: "the text is not valid UTF-8")
    }
  }
}
