/// Writes a JSON document (RFC 8259) from front to back. `JSONReader` reads it.
///
/// It writes values in the order of the calls. The names in an object must differ, which it does not check.
public struct JSONWriter {
  /// The layout of a document.
  public enum Layout: Sendable, Hashable {
    /// On one line, without white space.
    case compact
    /// One member or element per line, indented by two spaces.
    case pretty
  }

  /// The document so far.
  public private(set) var bytes: [UInt8] = []
  private let layout: Layout
  /// How many objects and arrays enclose the next value.
  private var depth = 0
  /// Whether a value precedes the next one in the same object or array.
  private var needsComma = false
  /// Whether the next value is that of the member whose name was just written.
  private var isAfterName = false

  /// Creates a writer with an empty document.
  public init(layout: Layout = .compact) { self.layout = layout }

  /// Writes an object, with `members` for its members.
  public mutating func object(_ members: (inout JSONWriter) -> Void) {
    enclosed("{", "}", members)
  }

  /// Writes an array, with `element` for each of `elements`.
  public mutating func array<Element>(_ elements: [Element], _ element: (inout JSONWriter, Element) -> Void) {
    enclosed("[", "]") { json in
      for value in elements { element(&json, value) }
    }
  }

  /// Writes the name of a member. Its value must follow.
  public mutating func name(_ name: String) {
    text(name)
    append(":")
    if layout == .pretty { append(" ") }
    isAfterName = true
  }

  /// Writes a string.
  public mutating func text(_ text: String) {
    beginValue()
    JSONString.append(text, to: &bytes)
  }

  /// Writes a string whose UTF-8 text is `text`, without copying it first.
  public mutating func text(_ text: Span<UInt8>) {
    beginValue()
    JSONString.append(text, to: &bytes)
  }

  /// Writes a whole number.
  public mutating func integer(_ number: some BinaryInteger) { literal(String(number)) }

  /// Writes a number; one that JSON cannot express (infinite, not a number) as `null`.
  public mutating func number(_ number: Double) { literal(number.isFinite ? "\(number)" : "null") }

  /// Writes `true` or `false`.
  public mutating func boolean(_ value: Bool) { literal(value ? "true" : "false") }

  /// Writes `null`.
  public mutating func null() { literal("null") }

  /// Writes a member that is a string; nothing for `nil`.
  public mutating func member(_ name: String, _ value: String?) {
    guard let value else { return }
    self.name(name)
    text(value)
  }

  /// Writes a member that is a whole number; nothing for `nil`.
  public mutating func member(_ name: String, _ value: (some BinaryInteger)?) {
    guard let value else { return }
    self.name(name)
    integer(value)
  }

  private mutating func enclosed(
    _ start: Unicode.Scalar, _ end: Unicode.Scalar, _ content: (inout JSONWriter) -> Void
  ) {
    beginValue()
    append(start)
    (depth, needsComma) = (depth + 1, false)
    content(&self)
    depth -= 1
    if needsComma { breakLine() }
    append(end)
    needsComma = true
  }

  /// Writes a value as it is in JSON.
  mutating func literal(_ text: String) {
    beginValue()
    bytes.append(contentsOf: text.utf8)
  }

  private mutating func beginValue() {
    if isAfterName {
      isAfterName = false
    } else {
      if needsComma { append(",") }
      if depth > 0 { breakLine() }
      needsComma = true
    }
  }

  private mutating func breakLine() {
    guard layout == .pretty else { return }
    append("\n")
    bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * depth))
  }

  private mutating func append(_ character: Unicode.Scalar) { bytes.append(UInt8(ascii: character)) }
}

/// Writes strings in JSON (RFC 8259, section 7). `JSONReader` reads them.
public enum JSONString {
  /// Appends `text`, which is UTF-8, in quotes to `bytes`. Escapes only what JSON does not allow, and DEL because of
  /// terminals. Cost: one pass, with one copy for each stretch between escapes.
  public static func append(_ text: Span<UInt8>, to bytes: inout [UInt8]) {
    bytes.append(quote)
    var start = 0
    for index in text.indices where isEscaped(text[index]) {
      append(text.extracting(start..<index), unescapedTo: &bytes)
      appendEscape(of: text[index], to: &bytes)
      start = index + 1
    }
    append(text.extracting(start..<text.count), unescapedTo: &bytes)
    bytes.append(quote)
  }

  /// Appends `text` in quotes to `bytes` in the same way.
  public static func append(_ text: String, to bytes: inout [UInt8]) {
    append(Array(text.utf8).span, to: &bytes)
  }

  /// `text` in quotes, safe for a terminal. Messages quote users' texts this way.
  package static func quoted(_ text: String) -> String {
    var bytes: [UInt8] = []
    append(text, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Computed: without optimization, each byte would take the lock of a stored one.
  private static var quote: UInt8 { UInt8(ascii: "\"") }

  private static func isEscaped(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == quote || byte == UInt8(ascii: "\\") || byte == 0x7F
  }

  private static func append(_ text: Span<UInt8>, unescapedTo bytes: inout [UInt8]) {
    text.withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
  }

  private static func appendEscape(of byte: UInt8, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\\"))
    switch byte {
    case quote, UInt8(ascii: "\\"): bytes.append(byte)
    case 0x0A: bytes.append(UInt8(ascii: "n"))
    case 0x0D: bytes.append(UInt8(ascii: "r"))
    case 0x09: bytes.append(UInt8(ascii: "t"))
    default: bytes.append(contentsOf: "u00\(Hexadecimal.text(byte))".utf8)
    }
  }
}
