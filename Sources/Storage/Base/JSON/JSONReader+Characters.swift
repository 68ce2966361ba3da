/// Reading values that consist of characters, and the white space between values.
extension JSONReader {
  mutating func skipValue(depth: Int) throws(Failure) {
    guard depth < Self.maximumDepth else { throw failure("values are nested too deeply") }
    skipSpace()
    switch peek() {
    case UInt8(ascii: "{"): try object { reader, _ throws(Failure) in try reader.skipValue(depth: depth + 1) }
    case UInt8(ascii: "["): _ = try array { reader throws(Failure) in try reader.skipValue(depth: depth + 1) }
    case UInt8(ascii: "\""): _ = try string()
    case UInt8(ascii: "n"): try expect(word: "null")
    case UInt8(ascii: "t"): try expect(word: "true")
    case UInt8(ascii: "f"): try expect(word: "false")
    default: try skipNumber()
    }
  }

  mutating func skipNumber() throws(Failure) {
    _ = skipByte(UInt8(ascii: "-"))
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
    guard offset > start else { throw failure("a number is expected") }
  }

  /// Reads the sign and digits of a number; `nil` if it does not fit into `Int`.
  mutating func wholeNumber() throws(Failure) -> Int? {
    let isNegative = skipByte(UInt8(ascii: "-"))
    guard let first = digit else { throw failure("a number is expected") }
    offset += 1
    if first == 0 { return 0 }
    var (number, isTooLarge) = (-first, false)
    while let digit {
      offset += 1
      let (scaled, overflow) = number.multipliedReportingOverflow(by: 10)
      let (sum, sumOverflow) = scaled.subtractingReportingOverflow(digit)
      (number, isTooLarge) = (sum, isTooLarge || overflow || sumOverflow)
    }
    if isTooLarge { return nil }
    if isNegative { return number }
    return number == .min ? nil : -number
  }

  /// Whether the number continues with a fraction or an exponent.
  var isFraction: Bool {
    switch peek() {
    case UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"): true
    default: false
    }
  }

  /// The value of the next digit; `nil` if the next byte is not a digit.
  private var digit: Int? {
    let value = peek() &- UInt8(ascii: "0")
    return value < 10 ? Int(value) : nil
  }

  mutating func skipQuote() -> Bool { skipByte(UInt8(ascii: "\"")) }

  /// Skips `null`, and returns whether it was there.
  @usableFromInline
  mutating func skipNull() throws(Failure) -> Bool {
    if peek() <= 0x20 { skipSpace() }
    guard peek() == UInt8(ascii: "n") else { return false }
    try expect(word: "null")
    return true
  }

  mutating func expect(word: String) throws(Failure) {
    for byte in word.utf8 where !skipByte(byte) { throw failure("\(word) is expected") }
  }

  @usableFromInline
  mutating func expect(_ byte: UInt8) throws(Failure) {
    if !skip(byte) { throw isMissing(byte) }
  }

  private func isMissing(_ byte: UInt8) -> Failure {
    failure("'\(Character(Unicode.Scalar(byte)))' is expected")
  }

  @usableFromInline
  mutating func skip(_ byte: UInt8) -> Bool {
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
