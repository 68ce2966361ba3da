/// Reads a JSON document (RFC 8259) from front to back, strictly, as its caller knows it to be.
///
/// It exists because Foundation's decoder costs a process 0.5 ms before its first value, and afterwards ten times as
/// much for a page of records. Nothing is built but what the caller asks for.
public struct JSONReader {
  /// What is wrong with a document, and where.
  public struct Failure: Error, Sendable, CustomStringConvertible {
    /// What is wrong, in one line without a final full stop.
    public let message: String
    /// The number of bytes before the place.
    public let offset: Int

    /// The message and the place.
    public var description: String { "\(message) (at byte \(offset))" }
  }

  /// How deep the values may be nested that are skipped.
  public static let maximumDepth = 128

  let bytes: [UInt8]
  var offset = 0

  /// A reader at the beginning of `bytes`.
  public init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// A failure of this document, here.
  public func failure(_ message: String) -> Failure { Failure(message: message, offset: offset) }

  /// Reads an object, and calls `member` with the name of each member to read, or skip, its value.
  public mutating func object(
    _ member: (inout JSONReader, String) throws(Failure) -> Void
  ) throws(Failure) {
    try expect(UInt8(ascii: "{"))
    if skip(UInt8(ascii: "}")) { return }
    repeat {
      let name = try string()
      try expect(UInt8(ascii: ":"))
      try member(&self, name)
    } while skip(UInt8(ascii: ","))
    try expect(UInt8(ascii: "}"))
  }

  /// Reads an array whose elements `element` reads.
  public mutating func array<Element>(
    of element: (inout JSONReader) throws(Failure) -> Element
  ) throws(Failure) -> [Element] {
    try expect(UInt8(ascii: "["))
    if skip(UInt8(ascii: "]")) { return [] }
    var elements: [Element] = []
    repeat { elements.append(try element(&self)) } while skip(UInt8(ascii: ","))
    try expect(UInt8(ascii: "]"))
    return elements
  }

  /// Reads `null` as `nil`, and anything else by `value`.
  public mutating func optional<Value>(
    _ value: (inout JSONReader) throws(Failure) -> Value
  ) throws(Failure) -> Value? {
    skipSpace()
    if peek() != UInt8(ascii: "n") { return try value(&self) }
    try expect(word: "null")
    return nil
  }

  /// Reads a whole number in the range of `Int`, written without fraction and exponent.
  public mutating func integer() throws(Failure) -> Int {
    skipSpace()
    let start = offset
    try skipNumber()
    guard let number = Int(String(decoding: bytes[start..<offset], as: UTF8.self)) else {
      throw Failure(message: "a whole number is expected", offset: start)
    }
    return number
  }

  /// Reads a string.
  public mutating func string() throws(Failure) -> String {
    try expect(UInt8(ascii: "\""))
    let start = offset
    skipPlainCharacters()
    if peek() == UInt8(ascii: "\"") {
      defer { offset += 1 }
      return try text(bytes[start..<offset])
    }
    var unescaped = Array(bytes[start..<offset])
    while !skipQuote() {
      try appendEscape(to: &unescaped)
      let start = offset
      skipPlainCharacters()
      unescaped += bytes[start..<offset]
    }
    return try text(unescaped[...])
  }

  /// Reads any value and forgets it.
  public mutating func skipValue() throws(Failure) { try skipValue(depth: 0) }

  /// Makes sure that nothing follows but white space.
  public mutating func end() throws(Failure) {
    skipSpace()
    guard offset == bytes.count else { throw failure("the end is expected") }
  }
}
