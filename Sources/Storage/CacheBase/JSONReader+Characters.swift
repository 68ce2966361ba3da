/// Reading members, values that consist of characters, and the white space between values.
extension JSONReader {
  /// Reads an object. Calls `member` with the name of each member and the offset of that name.
  mutating func members(
    allowsRepeatedKeys: Bool, _ member: (inout JSONReader, String, Int) throws(Failure) -> Void
  ) throws(Failure) {
    var (hasBegun, keys) = (false, Set<String>())
    while try nextPart(from: UInt8(ascii: "{"), to: UInt8(ascii: "}"), &hasBegun) {
      skipSpace()
      let start = offset
      let key = try key()
      guard allowsRepeatedKeys || keys.insert(key).inserted else {
        throw Failure(message: "the key \(JSONString.quoted(String(key.prefix(60)))) occurs twice", offset: start)
      }
      try member(&self, key, start)
    }
  }

  /// Reads the beginning of an object or an array, or a comma between its parts.
  ///
  /// - Parameter hasBegun: whether the beginning has been read; `false` the first time.
  /// - Returns: whether there is another part; if not, the end has been read.
  @usableFromInline
  mutating func nextPart(from start: UInt8, to end: UInt8, _ hasBegun: inout Bool) throws(Failure) -> Bool {
    if hasBegun {
      if skip(UInt8(ascii: ",")) { return true }
      guard skip(end) else { throw expected("',' or \(Self.quoted(end))") }
      return false
    }
    hasBegun = true
    try expect(start)
    return !skip(end)
  }

  /// Reads the name of a member, and the colon after it.
  @inline(__always)
  mutating func key() throws(Failure) -> String {
    skipSpace()
    guard peek() == UInt8(ascii: "\"") else { throw expected("a key in double quotes") }
    let key = try string()
    try expect(UInt8(ascii: ":"))
    return key
  }

  mutating func skipValue(depth: Int) throws(Failure) {
    guard depth < Self.maximumDepth else { throw failure("values are nested too deeply") }
    skipSpace()
    switch peek() {
    case UInt8(ascii: "{"): try object { reader, _ throws(Failure) in try reader.skipValue(depth: depth + 1) }
    case UInt8(ascii: "["): _ = try array { reader throws(Failure) in try reader.skipValue(depth: depth + 1) }
    case UInt8(ascii: "\""): _ = try string()
    case UInt8(ascii: "n") where skip(word: "null"): return
    case UInt8(ascii: "t") where skip(word: "true"): return
    case UInt8(ascii: "f") where skip(word: "false"): return
    default: try skipNumber()
    }
  }

  /// Reads a number as it is written, so that nothing is rounded.
  mutating func numberText() throws(Failure) -> String {
    let start = offset
    try skipNumber()
    return String(decoding: bytes.part(start..<offset), as: UTF8.self)
  }

  private mutating func skipNumber() throws(Failure) {
    guard skipByte(UInt8(ascii: "-")) || digit != nil else { throw expected("a value") }
    if !skipByte(UInt8(ascii: "0")) { try skipDigits() }
    if skipByte(UInt8(ascii: ".")) { try skipDigits() }
    if skipByte(UInt8(ascii: "e")) || skipByte(UInt8(ascii: "E")) {
      if !skipByte(UInt8(ascii: "-")) { _ = skipByte(UInt8(ascii: "+")) }
      try skipDigits()
    }
  }

  private mutating func skipDigits() throws(Failure) {
    let start = offset
    while digit != nil { offset += 1 }
    guard offset > start else { throw expected("a digit") }
  }

  /// Reads the sign and digits of a number; `nil` if it does not fit into `Int`.
  mutating func wholeNumber() throws(Failure) -> Int? {
    let start = offset
    let isNegative = skipByte(UInt8(ascii: "-"))
    guard let first = digit else { throw expected("a whole number") }
    offset += 1
    var number = first
    while first > 0, let digit {
      offset += 1
      number = number &* 10 &+ digit
    }
    // 18 digits always fit.
    if offset - start > 18 { return Int(String(decoding: bytes.part(start..<offset), as: UTF8.self)) }
    return isNegative ? -number : number
  }

  /// The value of the next digit; `nil` if the next byte is not a digit.
  private var digit: Int? {
    let value = peek() &- UInt8(ascii: "0")
    return value < 10 ? Int(value) : nil
  }

  mutating func skipQuote() -> Bool { skipByte(UInt8(ascii: "\"")) }

  /// Skips `null`, and returns whether it was there.
  @usableFromInline
  mutating func skipNull() -> Bool {
    if peek() <= 0x20 { skipSpace() }
    return peek() == UInt8(ascii: "n") && skip(word: "null")
  }

  /// Skips `word`, of at most `JSONBytes.padding` bytes, if it comes next, and returns whether it did.
  mutating func skip(word: String) -> Bool {
    let end = offset + word.utf8.count
    guard bytes.part(offset..<end).elementsEqual(word.utf8) else { return false }
    offset = end
    return true
  }

  /// Skips white space and then `byte`.
  mutating func expect(_ byte: UInt8) throws(Failure) {
    if !skip(byte) { throw expected(Self.quoted(byte)) }
  }

  /// The failure that something else than `what` comes next.
  func expected(_ what: String) -> Failure { failure("expected \(what), found \(nextThing)") }

  private var nextThing: String {
    guard !isAtEnd else { return "the end of the text" }
    let rest = String(decoding: bytes.part(offset..<min(offset + 4, bytes.count)), as: UTF8.self)
    guard let scalar = rest.unicodeScalars.first, scalar.properties.generalCategory != .control else {
      return "a control character"
    }
    return "'\(scalar)'"
  }

  private static func quoted(_ byte: UInt8) -> String { "'\(Character(Unicode.Scalar(byte)))'" }

  /// Whether all of the document has been read.
  var isAtEnd: Bool { offset == bytes.count }

  /// Skips white space, then `byte` if it comes next, and returns whether it did.
  package mutating func skip(_ byte: UInt8) -> Bool {
    if skipByte(byte) { return true }
    guard peek() <= 0x20 else { return false }
    skipSpace()
    return skipByte(byte)
  }

  /// Skips the next byte if it is `byte`, which must not be zero, and returns whether it was.
  @inline(__always)
  mutating func skipByte(_ byte: UInt8) -> Bool {
    guard peek() == byte else { return false }
    offset += 1
    return true
  }

  mutating func skipSpace() {
    while true {
      switch peek() {
      case 0x20, 0x0A, 0x0D, 0x09: offset += 1
      default: return
      }
    }
  }

  /// The next byte; zero at the end.
  @inline(__always)
  func peek() -> UInt8 { bytes.start[offset] }
}
