/// Parsing strings and numbers.
extension JSONParser {
  /// Parses the string that begins at the current quotation mark.
  mutating func string() throws(Document.SyntaxError) -> String {
    advance()
    var text = ""
    var start = offset
    while let byte = peek {
      switch byte {
      case UInt8(ascii: "\""):
        text += String(decoding: bytes[start..<offset], as: UTF8.self)
        advance()
        return text
      case UInt8(ascii: "\\"):
        text += String(decoding: bytes[start..<offset], as: UTF8.self)
        text.unicodeScalars.append(try escape())
        start = offset
      case 0..<0x20: throw expected("no control character inside a text")
      default: advance()
      }
    }
    throw expected("a closing '\"'")
  }

  /// Parses the number at the current position, and keeps its spelling.
  mutating func number() throws(Document.SyntaxError) -> String {
    let start = offset
    _ = take("-")
    if !take("0") { try digits() }
    if take(".") { try digits() }
    if take("e") || take("E") {
      if !take("+") { _ = take("-") }
      try digits()
    }
    return String(decoding: bytes[start..<offset], as: UTF8.self)
  }

  private mutating func digits() throws(Document.SyntaxError) {
    guard let byte = peek, byte.isASCIIDigit else { throw expected("a digit") }
    while let byte = peek, byte.isASCIIDigit { advance() }
  }

  private mutating func escape() throws(Document.SyntaxError) -> Unicode.Scalar {
    let start = place
    advance()
    guard let byte = peek else { throw expected("an escaped character") }
    if byte == UInt8(ascii: "u") { return try unicodeEscape(from: start) }
    guard let scalar = Self.escapes[byte] else { throw expected("one of \"\\/bfnrtu behind '\\'") }
    advance()
    return scalar
  }

  /// Parses the character of `\uXXXX`, or of two of these that form a surrogate pair (RFC 8259, section 7).
  private mutating func unicodeEscape(from start: SourcePlace) throws(Document.SyntaxError) -> Unicode.Scalar {
    let first = UInt32(try codeUnit())
    if let scalar = Unicode.Scalar(first) { return scalar }
    if first < 0xDC00, take("\\"), peek == UInt8(ascii: "u") {
      let second = UInt32(try codeUnit())
      if (0xDC00..<0xE000).contains(second),
        let scalar = Unicode.Scalar(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))
      {
        return scalar
      }
    }
    throw Document.SyntaxError(place: start, message: "expected a pair of surrogates, found half of one")
  }

  private mutating func codeUnit() throws(Document.SyntaxError) -> UInt16 {
    advance()
    var unit: UInt16 = 0
    for _ in 0..<4 {
      guard let byte = peek, let digit = Hexadecimal.digit(byte) else {
        throw expected("four hexadecimal digits behind '\\u'")
      }
      unit = unit << 4 | UInt16(digit)
      advance()
    }
    return unit
  }

  private static let escapes: [UInt8: Unicode.Scalar] = [
    UInt8(ascii: "\""): "\"", UInt8(ascii: "\\"): "\\", UInt8(ascii: "/"): "/", UInt8(ascii: "b"): "\u{8}",
    UInt8(ascii: "f"): "\u{C}", UInt8(ascii: "n"): "\n", UInt8(ascii: "r"): "\r", UInt8(ascii: "t"): "\t",
  ]
}
