/// Reads a JSON document (RFC 8259) from front to back, strictly, for a caller that knows its structure.
///
/// It exists because Foundation's decoder costs a process 0.5 ms before its first value, and then takes ten times as
/// long for a page of records. It builds only what the caller asks for. If the names of an object's members are known
/// and usually come in the same order, `object(_:_:)` skips them without reading them. Only `skipValue()` recurses.
public struct JSONReader {
  /// A mistake in a document, and its position.
  public struct Failure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The mistake, in one line without a final full stop.
    public let message: String
    /// The position, as the number of bytes before it.
    public let offset: Int

    /// The message and the position.
    public var description: String { "\(message) (at byte \(offset))" }
  }

  /// How deep skipped values can be nested.
  public static let maximumDepth = 128

  let bytes: JSONBytes
  /// The position of the next byte. It never passes the first zero after the document: nothing skips a zero.
  var offset = 0

  /// Creates a reader at the beginning of `bytes`.
  public init(_ bytes: [UInt8]) { self.init(bytes.span) }

  /// Creates a reader at the beginning of a copy of `bytes`. A copy of the reader shares that copy.
  public init(_ bytes: Span<UInt8>) { self.bytes = JSONBytes(bytes) }

  /// A failure at the current position.
  public func failure(_ message: String) -> Failure { Failure(message: message, offset: offset) }

  /// Reads an object. Calls `member` with the name of each member, to read or skip its value.
  public mutating func object(
    _ member: (inout JSONReader, String) throws(Failure) -> Void
  ) throws(Failure) {
    try members(allowsRepeatedKeys: true) { json, name, _ throws(Failure) in try member(&json, name) }
  }

  /// Reads an object in the same way, and fails if a name occurs twice.
  public mutating func objectWithoutRepeats(
    _ member: (inout JSONReader, String) throws(Failure) -> Void
  ) throws(Failure) {
    try members(allowsRepeatedKeys: false) { json, name, _ throws(Failure) in try member(&json, name) }
  }

  /// Reads an object. Calls `member` with the index of each member's name in `names`, to read or skip its value. Skips
  /// members with other names.
  ///
  /// Fastest if the members come in the order of `names`, without white space.
  @inlinable
  public mutating func object(
    _ names: JSONNames, _ member: (inout JSONReader, Int) throws(Failure) -> Void
  ) throws(Failure) {
    var (hasBegun, index) = (false, Int?.none)
    while try nextMember(among: names, &hasBegun, &index) {
      if let index { try member(&self, index) } else { try skipValue() }
    }
  }

  /// Reads an array, with `element` for each element. Cheapest if there are at most `capacity` elements.
  @inlinable
  public mutating func array<Element>(
    capacity: Int = 4, of element: (inout JSONReader) throws(Failure) -> Element
  ) throws(Failure) -> [Element] {
    var (hasBegun, elements) = (false, [Element]())
    while try nextPart(from: UInt8(ascii: "["), to: UInt8(ascii: "]"), &hasBegun) {
      if elements.isEmpty { elements.reserveCapacity(capacity) }
      elements.append(try element(&self))
    }
    return elements
  }

  /// Reads `null` as `nil`, and anything else with `value`.
  @inlinable
  public mutating func optional<Value>(
    _ value: (inout JSONReader) throws(Failure) -> Value
  ) throws(Failure) -> Value? {
    if !skipNull() { return try value(&self) }
    return nil
  }

  /// Reads a whole number in the range of `Int`, without fraction or exponent.
  public mutating func integer() throws(Failure) -> Int {
    skipSpace()
    let start = offset
    guard let number = try wholeNumber(), peek() != UInt8(ascii: "."), peek() | 0x20 != UInt8(ascii: "e") else {
      throw Failure(message: "expected a whole number", offset: start)
    }
    return number
  }

  /// Reads any number as the nearest `Double`.
  public mutating func number() throws(Failure) -> Double {
    skipSpace()
    let start = offset
    guard let number = Double(try numberText()), number.isFinite else {
      throw Failure(message: "expected a number that is not too large", offset: start)
    }
    return number
  }

  /// Reads `true` or `false`.
  public mutating func boolean() throws(Failure) -> Bool {
    skipSpace()
    if skip(word: "true") { return true }
    if skip(word: "false") { return false }
    throw expected("true or false")
  }

  /// Reads a string.
  public mutating func string() throws(Failure) -> String {
    try openString()
    let start = offset
    let isASCII = skipPlainCharacters()
    if skipQuote() { return try text(start..<(offset - 1), isASCII: isASCII) }
    let unescaped = try unescapedString(from: start, isASCII: isASCII)
    return String(copying: UTF8Span(unchecked: unescaped.span))
  }

  /// Reads a string as the bytes of its UTF-8 text.
  public mutating func stringBytes() throws(Failure) -> [UInt8] {
    try openString()
    let start = offset
    let isASCII = skipPlainCharacters()
    guard skipQuote() else { return try unescapedString(from: start, isASCII: isASCII) }
    if !isASCII { try checkEncoding(of: start..<(offset - 1)) }
    return Array(bytes.part(start..<(offset - 1)))
  }

  /// Reads a string, or `null` as `nil`.
  public mutating func optionalString() throws(Failure) -> String? {
    if peek() == UInt8(ascii: "\"") { return try string() }
    return skipNull() ? nil : try string()
  }

  /// Reads any value, and drops it.
  public mutating func skipValue() throws(Failure) { try skipValue(depth: 0) }

  /// Checks that only white space follows.
  public mutating func end() throws(Failure) {
    skipSpace()
    guard offset == bytes.count else { throw expected("the end of the text") }
  }
}

/// The bytes of a document, followed by zeros. No byte of JSON is zero, so reading stops there by itself, and `padding`
/// bytes can be loaded from any position.
final class JSONBytes {
  /// The number of zeros after the document.
  static let padding = 24

  /// The first byte. The pointer is valid as long as this object lives.
  let start: UnsafePointer<UInt8>
  /// The number of bytes in the document.
  let count: Int
  private let memory: UnsafeMutableBufferPointer<UInt8>

  /// Copies `bytes`. That costs little compared with reading them, and makes bounds checks unnecessary.
  init(_ bytes: Span<UInt8>) {
    let start = UnsafeMutablePointer<UInt8>.allocate(capacity: bytes.count + Self.padding)
    bytes.withUnsafeBufferPointer { bytes in
      if let first = bytes.baseAddress { start.initialize(from: first, count: bytes.count) }
    }
    (start + bytes.count).initialize(repeating: 0, count: Self.padding)
    (self.start, count) = (UnsafePointer(start), bytes.count)
    memory = UnsafeMutableBufferPointer(start: start, count: bytes.count + Self.padding)
  }

  deinit { memory.deallocate() }

  /// The eight bytes from `offset` on, as a little-endian number.
  @inline(__always)
  func word(at offset: Int) -> UInt64 {
    UInt64(littleEndian: UnsafeRawPointer(start + offset).loadUnaligned(as: UInt64.self))
  }

  /// The sixteen bytes from `offset` on.
  @inline(__always)
  func vector(at offset: Int) -> SIMD16<UInt8> {
    UnsafeRawPointer(start + offset).loadUnaligned(as: SIMD16<UInt8>.self)
  }

  @inline(__always)
  func part(_ range: Range<Int>) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(start: start + range.lowerBound, count: range.count)
  }
}
