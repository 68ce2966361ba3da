/// Reads a JSON document (RFC 8259) from front to back, strictly, as its caller knows it to be.
///
/// It exists because Foundation's decoder costs a process 0.5 ms before its first value, and afterwards ten times as
/// much for a page of records. Nothing is built but what the caller asks for. Where the members of an object are known
/// and mostly come in one order, `object(_:_:)` passes over their names without reading them.
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

  let bytes: JSONBytes
  /// The place of the next byte, which is never behind the first of the zeros that follow the document: nothing passes
  /// over a zero.
  var offset = 0

  /// A reader at the beginning of `bytes`.
  public init(_ bytes: [UInt8]) { self.init(bytes.span) }

  /// A reader at the beginning of a copy of `bytes`.
  public init(_ bytes: Span<UInt8>) { self.bytes = JSONBytes(bytes) }

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

  /// Reads an object, and calls `member` with the place of each member's name in `names` to read, or skip, its value.
  /// Members with other names are skipped.
  ///
  /// It is fastest where the members come in the order of `names`, without spaces.
  @inlinable
  public mutating func object(
    _ names: JSONNames, _ member: (inout JSONReader, Int) throws(Failure) -> Void
  ) throws(Failure) {
    var place = JSONMemberPlace()
    while try nextMember(among: names, &place) {
      if let index = place.index { try member(&self, index) } else { try skipValue() }
    }
  }

  /// Reads an array whose elements `element` reads. It costs least where it has no more than `capacity` of them.
  @inlinable
  public mutating func array<Element>(
    capacity: Int = 4, of element: (inout JSONReader) throws(Failure) -> Element
  ) throws(Failure) -> [Element] {
    try expect(UInt8(ascii: "["))
    if skip(UInt8(ascii: "]")) { return [] }
    var elements: [Element] = []
    elements.reserveCapacity(capacity)
    repeat { elements.append(try element(&self)) } while skip(UInt8(ascii: ","))
    try expect(UInt8(ascii: "]"))
    return elements
  }

  /// Reads `null` as `nil`, and anything else by `value`.
  @inlinable
  public mutating func optional<Value>(
    _ value: (inout JSONReader) throws(Failure) -> Value
  ) throws(Failure) -> Value? {
    if try !skipNull() { return try value(&self) }
    return nil
  }

  /// Reads a whole number in the range of `Int`, written without fraction and exponent.
  public mutating func integer() throws(Failure) -> Int {
    skipSpace()
    let start = offset
    guard let number = try wholeNumber(), !isFraction else {
      throw Failure(message: "a whole number is expected", offset: start)
    }
    return number
  }

  /// Reads a string.
  public mutating func string() throws(Failure) -> String {
    if !skipQuote() { try expect(UInt8(ascii: "\"")) }
    let start = offset
    let isASCII = skipPlainCharacters()
    if skipQuote() { return try text(start..<(offset - 1), isASCII: isASCII) }
    return try escapedString(from: start)
  }

  /// Reads a string, or `null` as `nil`.
  public mutating func optionalString() throws(Failure) -> String? {
    if peek() == UInt8(ascii: "\"") { return try string() }
    return try skipNull() ? nil : try string()
  }

  /// Reads any value and forgets it.
  public mutating func skipValue() throws(Failure) { try skipValue(depth: 0) }

  /// Makes sure that nothing follows but white space.
  public mutating func end() throws(Failure) {
    skipSpace()
    guard offset == bytes.count else { throw failure("the end is expected") }
  }
}
