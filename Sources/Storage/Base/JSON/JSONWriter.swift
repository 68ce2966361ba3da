/// Writes a JSON document (RFC 8259) from front to back, without white space. `JSONReader` reads it.
///
/// It writes values in the order of the calls. The names in an object must differ, which it does not check.
public struct JSONWriter {
  /// The document so far.
  public private(set) var bytes: [UInt8] = []
  /// Whether a value precedes the next one in the same object or array.
  private var needsComma = false

  /// Creates a writer with an empty document.
  public init() {}

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
    needsComma = false
  }

  /// Writes a string.
  public mutating func text(_ text: String) {
    beginValue()
    JSONString.append(text, to: &bytes)
  }

  /// Writes a whole number.
  public mutating func integer(_ number: some BinaryInteger) {
    beginValue()
    bytes.append(contentsOf: String(number).utf8)
  }

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
    needsComma = false
    content(&self)
    append(end)
    needsComma = true
  }

  private mutating func beginValue() {
    if needsComma { append(",") }
    needsComma = true
  }

  private mutating func append(_ character: Unicode.Scalar) { bytes.append(UInt8(ascii: character)) }
}
