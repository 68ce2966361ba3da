/// How values are read that consist of characters, and what lies between them.
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

  mutating func skipDigits() throws(Failure) {
    let start = offset
    while let byte = peek(), (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { offset += 1 }
    guard offset > start else { throw failure("a number is expected") }
  }

  /// Goes to the next byte that may not stand in a string as it is, or to the end.
  mutating func skipPlainCharacters() { offset = endOfPlainCharacters() }

  private func endOfPlainCharacters() -> Int {
    let span = bytes.span
    var index = offset
    while index < span.count, span[index] >= 0x20, span[index] != UInt8(ascii: "\""), span[index] != UInt8(ascii: "\\")
    { index += 1 }
    return index
  }

  mutating func skipQuote() -> Bool { skipByte(UInt8(ascii: "\"")) }

  mutating func appendEscape(to text: inout [UInt8]) throws(Failure) {
    guard skipByte(UInt8(ascii: "\\")), let letter = peek() else { throw failure("a string does not end") }
    offset += 1
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(letter)
    case UInt8(ascii: "b"): text.append(8)
    case UInt8(ascii: "t"): text.append(9)
    case UInt8(ascii: "n"): text.append(10)
    case UInt8(ascii: "f"): text.append(12)
    case UInt8(ascii: "r"): text.append(13)
    case UInt8(ascii: "u"): text += Array(try unicodeEscape().utf8)
    default: throw failure("an unknown escape within a string")
    }
  }

  /// Reads what follows "\u", and after a high surrogate the low one that must come next.
  mutating func unicodeEscape() throws(Failure) -> String {
    var units = [try codeUnit()]
    if UTF16.isLeadSurrogate(units[0]), skipByte(UInt8(ascii: "\\")), skipByte(UInt8(ascii: "u")) {
      units.append(try codeUnit())
    }
    guard let text = String(validating: units, as: UTF16.self) else { throw failure("half of a surrogate pair") }
    return text
  }

  mutating func codeUnit() throws(Failure) -> UInt16 {
    let digits = bytes[offset...].prefix(4)
    guard digits.count == 4, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
      let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
    else { throw failure("four hexadecimal digits are expected") }
    offset += 4
    return unit
  }

  func text(_ bytes: ArraySlice<UInt8>) throws(Failure) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else { throw failure("a string is not UTF-8") }
    return text
  }

  mutating func expect(word: String) throws(Failure) {
    for byte in word.utf8 where !skipByte(byte) { throw failure("\(word) is expected") }
  }

  mutating func expect(_ byte: UInt8) throws(Failure) {
    guard skip(byte) else { throw failure("'\(Character(Unicode.Scalar(byte)))' is expected") }
  }

  mutating func skip(_ byte: UInt8) -> Bool {
    skipSpace()
    return skipByte(byte)
  }

  mutating func skipByte(_ byte: UInt8) -> Bool {
    guard peek() == byte else { return false }
    offset += 1
    return true
  }

  mutating func skipSpace() {
    while let byte = peek(), byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { offset += 1 }
  }

  func peek() -> UInt8? { offset < bytes.count ? bytes[offset] : nil }
}
