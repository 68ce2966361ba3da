internal import StorageSPI

/// A strict, sequential scanner of JSON documents (RFC 8259) that reports where they go wrong.
///
/// It exists because Foundation's decoder is several times slower on large strings and does not report where an error
/// is. It never recurses: the caller decides what to read at each level. It visits every byte once.
struct JSONScanner {
  private let bytes: [UInt8]
  /// The offset of the next byte.
  private(set) var offset: Int

  /// Scans `bytes` from `offset` on. The caller must validate the bytes as UTF-8.
  init(_ bytes: [UInt8], at offset: Int = 0) {
    self.bytes = bytes
    self.offset = offset
  }

  /// An error at the current offset; `what` says what is wrong.
  func problem(_ what: String) -> PlistFormatError { PlistFormatError(message: what, offset: offset) }

  /// Reads an object, and calls `member` with each member's name to read its value. Names must be unique.
  mutating func object(
    _ member: (inout JSONScanner, String) throws(PlistFormatError) -> Void
  ) throws(PlistFormatError) {
    try expect(UInt8(ascii: "{"))
    if skip(UInt8(ascii: "}")) { return }
    var names: Set<String> = []
    repeat {
      let name = try text()
      guard names.insert(name).inserted else { throw problem("\(PlistFormatError.quoted(name)) comes twice") }
      try expect(UInt8(ascii: ":"))
      try member(&self, name)
    } while skip(UInt8(ascii: ","))
    try expect(UInt8(ascii: "}"))
  }

  /// Reads a whole number from 0 to 999,999,999.
  mutating func number() throws(PlistFormatError) -> Int {
    skipSpace()
    let digits = bytes[offset...].prefix(10).prefix { $0.isASCIIDigit }
    guard (1...9).contains(digits.count), digits.count == 1 || digits.first != UInt8(ascii: "0") else {
      throw problem("a whole number is expected")
    }
    offset += digits.count
    return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
  }

  /// Reads a string as text.
  mutating func text() throws(PlistFormatError) -> String { String(decoding: try string(), as: UTF8.self) }

  /// Reads a string as UTF-8 bytes.
  mutating func string() throws(PlistFormatError) -> [UInt8] {
    try expect(UInt8(ascii: "\""))
    var result: [UInt8] = []
    while true {
      let start = offset
      let next = skipPlainCharacters()
      result.append(contentsOf: bytes[start..<offset])
      switch next {
      case UInt8(ascii: "\"")?:
        offset += 1
        return result
      case UInt8(ascii: "\\")?: try appendEscape(to: &result)
      case nil: throw problem("the file ends within a string")
      default: throw problem("a control character within a string")
      }
    }
  }

  /// Checks that only white space follows.
  mutating func end() throws(PlistFormatError) {
    skipSpace()
    guard offset == bytes.count else { throw problem("the end of the file is expected") }
  }

  private mutating func skipPlainCharacters() -> UInt8? {
    offset = endOfPlainCharacters()
    return offset < bytes.count ? bytes[offset] : nil
  }

  private func endOfPlainCharacters() -> Int {
    let span = bytes.span
    var index = offset
    while index < span.count, !span[index].isEscapedInJSON { index += 1 }
    return index
  }

  private mutating func appendEscape(to result: inout [UInt8]) throws(PlistFormatError) {
    guard offset + 1 < bytes.count else { throw problem("the file ends within a string") }
    let letter = bytes[offset + 1]
    if letter == UInt8(ascii: "u") {
      result.append(contentsOf: try unicodeEscape().utf8)
    } else if let byte = Self.escapes[letter] {
      offset += 2
      result.append(byte)
    } else {
      throw problem("an unknown escape within a string")
    }
  }

  private static let escapes: [UInt8: UInt8] = [
    UInt8(ascii: "\""): UInt8(ascii: "\""), UInt8(ascii: "\\"): UInt8(ascii: "\\"),
    UInt8(ascii: "/"): UInt8(ascii: "/"),
    UInt8(ascii: "b"): 8, UInt8(ascii: "f"): 12, UInt8(ascii: "n"): 10, UInt8(ascii: "r"): 13, UInt8(ascii: "t"): 9,
  ]

  /// Reads "\uXXXX" and, after a high surrogate, the required low one.
  private mutating func unicodeEscape() throws(PlistFormatError) -> String {
    let first = try codeUnit()
    let units = UTF16.isLeadSurrogate(first) ? [first, try codeUnit()] : [first]
    guard let text = String(validating: units, as: UTF16.self) else {
      throw problem("half of a surrogate pair within a string")
    }
    return text
  }

  private mutating func codeUnit() throws(PlistFormatError) -> UInt16 {
    let escape = bytes[offset...].prefix(6)
    let digits = escape.dropFirst(2)
    guard escape.starts(with: Array("\\u".utf8)), let unit = Hexadecimal.number(digits, as: UInt16.self)
    else { throw problem("an escape of four hexadecimal digits is expected") }
    offset += 6
    return unit
  }

  private mutating func expect(_ byte: UInt8) throws(PlistFormatError) {
    guard skip(byte) else { throw problem("'\(Character(Unicode.Scalar(byte)))' is expected") }
  }

  /// The next byte that is not white space, without consuming it; `nil` at the end.
  var next: UInt8? { bytes[offset...].first { !$0.isSpaceInJSON } }

  /// Skips white space, then `byte` if it comes next; returns whether it did.
  mutating func skip(_ byte: UInt8) -> Bool {
    skipSpace()
    guard offset < bytes.count, bytes[offset] == byte else { return false }
    offset += 1
    return true
  }

  private mutating func skipSpace() {
    while offset < bytes.count, bytes[offset].isSpaceInJSON { offset += 1 }
  }
}

extension UInt8 {
  /// Whether JSON requires the byte to be escaped in a string.
  var isEscapedInJSON: Bool { self < 0x20 || self == UInt8(ascii: "\"") || self == UInt8(ascii: "\\") }

  /// Whether JSON counts the byte as white space.
  var isSpaceInJSON: Bool { self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09 }
}
