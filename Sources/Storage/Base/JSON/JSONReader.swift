/// Reads a JSON document (RFC 8259) from front to back, strictly, for a caller that knows its structure.
///
/// It exists because Foundation's decoder costs a process 0.5 ms before its first value, and then takes ten times as
/// long for a page of records. It builds only what the caller asks for. If the names of an object's members are known
/// and usually come in the same order, `object(_:_:)` skips them without reading them.
public struct JSONReader {
  /// What is wrong with a document, and where.
  public struct Failure: Error, Sendable, CustomStringConvertible {
    /// What is wrong, in one line without a final full stop.
    public let message: String
    /// The position, as the number of bytes before it.
    public let offset: Int

    /// The message and the position.
    public var description: String { "\(message) (at byte \(offset))" }
  }

  /// How deep skipped values may be nested.
  public static let maximumDepth = 128

  let bytes: JSONBytes
  /// The position of the next byte. It never passes the first zero after the document: nothing skips a zero.
  var offset = 0

  /// Creates a reader at the beginning of `bytes`.
  public init(_ bytes: [UInt8]) { self.init(bytes.span) }

  /// Creates a reader at the beginning of a copy of `bytes`.
  public init(_ bytes: Span<UInt8>) { self.bytes = JSONBytes(bytes) }

  /// A failure at the current position.
  public func failure(_ message: String) -> Failure { Failure(message: message, offset: offset) }

  /// Reads an object. Calls `member` with the name of each member, to read or skip its value.
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

  /// Reads an object. Calls `member` with the index of each member's name in `names`, to read or skip its value. Skips
  /// members with other names.
  ///
  /// Fastest if the members come in the order of `names`, without white space.
  @inlinable
  public mutating func object(
    _ names: JSONNames, _ member: (inout JSONReader, Int) throws(Failure) -> Void
  ) throws(Failure) {
    var place = JSONMemberPlace()
    while try nextMember(among: names, &place) {
      if let index = place.index { try member(&self, index) } else { try skipValue() }
    }
  }

  /// Reads an array, with `element` for each element. Cheapest if there are at most `capacity` elements.
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

  /// Reads `null` as `nil`, and anything else with `value`.
  @inlinable
  public mutating func optional<Value>(
    _ value: (inout JSONReader) throws(Failure) -> Value
  ) throws(Failure) -> Value? {
    if try !skipNull() { return try value(&self) }
    return nil
  }

  /// Reads a whole number in the range of `Int`, without fraction or exponent.
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

  /// Reads any value, and drops it.
  public mutating func skipValue() throws(Failure) { try skipValue(depth: 0) }

  /// Checks that only white space follows.
  public mutating func end() throws(Failure) {
    skipSpace()
    guard offset == bytes.count else { throw failure("the end is expected") }
  }
}
