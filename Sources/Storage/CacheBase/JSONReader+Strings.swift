/// Reading strings. Most have no escapes: a search for the end goes sixteen bytes at a time, and the text is copied
/// once, into the result.
///
/// Vectors are only compared with vectors: a comparison with a single number compiles to a loop over the bytes (Swift
/// 6.3).
extension JSONReader {
  private static let highBits: UInt64 = 0x8080_8080_8080_8080

  /// Advances to the next byte that needs special treatment in a string, or to the end.
  ///
  /// - Returns: whether all bytes up to there are ASCII.
  @inline(__always)
  mutating func skipPlainCharacters() -> Bool {
    let quotes = SIMD16<UInt8>(repeating: 0x22)
    let (backslashes, spaces) = (SIMD16<UInt8>(repeating: 0x5C), SIMD16<UInt8>(repeating: 0x20))
    var (seen, index) = (SIMD16<UInt8>(repeating: 0), offset)
    while true {
      let characters = bytes.vector(at: index)
      let stops = (characters .== quotes) .| (characters .== backslashes) .| (characters .< spaces)
      let (low, high) = Self.words(unsafeBitCast(stops, to: SIMD2<UInt64>.self))
      if low | high == 0 {
        seen |= characters
        index += 16
        continue
      }
      offset = index + (low != 0 ? low.trailingZeroBitCount : 64 + high.trailingZeroBitCount) / 8
      let before = Self.words(unsafeBitCast(seen, to: SIMD2<UInt64>.self))
      let last = Self.words(unsafeBitCast(characters, to: SIMD2<UInt64>.self))
      let rest = low != 0 ? last.0 & Self.below(low) : last.0 | last.1 & Self.below(high)
      return (before.0 | before.1 | rest) & Self.highBits == 0
    }
  }

  /// The bits of a word below its lowest set bit.
  @inline(__always)
  private static func below(_ word: UInt64) -> UInt64 { ~word & (word &- 1) }

  /// The two halves of a vector, as little-endian numbers.
  @inline(__always)
  private static func words(_ vector: SIMD2<UInt64>) -> (UInt64, UInt64) {
    (UInt64(littleEndian: vector[0]), UInt64(littleEndian: vector[1]))
  }

  /// The text of the bytes in `range`.
  @inline(__always)
  func text(_ range: Range<Int>, isASCII: Bool) throws(Failure) -> String {
    if !isASCII { try checkEncoding(of: range) }
    // Unlike `String(validating:as:)` this needs no metadata of generic types, which the runtime would look up each time.
    let characters = bytes.part(range)
    return String(copying: UTF8Span(unchecked: characters.span, isKnownASCII: isASCII))
  }

  /// Fails unless the bytes in `range` are UTF-8.
  func checkEncoding(of range: Range<Int>) throws(Failure) {
    let characters = bytes.part(range)
    do { _ = try UTF8Span(validating: characters.span) } catch {
      let offset = range.lowerBound + error.byteOffsets.lowerBound
      throw Failure(message: "the text is not valid UTF-8", offset: offset)
    }
  }

  /// Skips white space and the quotation mark at the beginning of a string.
  mutating func openString() throws(Failure) {
    if !skipQuote(), !skip(UInt8(ascii: "\"")) { throw expected("a text") }
  }

  /// Reads the rest of a string from its first escape, which is next. The string begins at `start`; `isASCII` says
  /// whether all of it is ASCII so far.
  mutating func unescapedString(from start: Int, isASCII: Bool) throws(Failure) -> [UInt8] {
    if !isASCII { try checkEncoding(of: start..<offset) }
    var unescaped = Array(bytes.part(start..<offset))
    while !skipQuote() {
      try appendEscape(to: &unescaped)
      let start = offset
      if !skipPlainCharacters() { try checkEncoding(of: start..<offset) }
      unescaped += bytes.part(start..<offset)
    }
    return unescaped
  }

  private mutating func appendEscape(to text: inout [UInt8]) throws(Failure) {
    let start = offset
    guard skipByte(UInt8(ascii: "\\")) else {
      throw expected(isAtEnd ? "a closing '\"'" : "no control character inside a text")
    }
    let letter = peek()
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(letter)
    case UInt8(ascii: "b"): text.append(8)
    case UInt8(ascii: "t"): text.append(9)
    case UInt8(ascii: "n"): text.append(10)
    case UInt8(ascii: "f"): text.append(12)
    case UInt8(ascii: "r"): text.append(13)
    case UInt8(ascii: "u"):
      text += Array(try unicodeEscape(from: start).utf8)
      return
    default: throw expected("one of \"\\/bfnrtu behind '\\'")
    }
    offset += 1
  }

  /// Reads the "uXXXX" of an escape that begins at `start`, and after a high surrogate also the escape with the low one
  /// that must follow.
  private mutating func unicodeEscape(from start: Int) throws(Failure) -> String {
    var units = [try codeUnit()]
    if UTF16.isLeadSurrogate(units[0]), skipByte(UInt8(ascii: "\\")), peek() == UInt8(ascii: "u") {
      units.append(try codeUnit())
    }
    guard let text = String(validating: units, as: UTF16.self) else {
      throw Failure(message: "expected a pair of surrogates, found half of one", offset: start)
    }
    return text
  }

  /// Reads the letter of an escape and the four digits behind it.
  private mutating func codeUnit() throws(Failure) -> UInt16 {
    offset += 1
    var unit: UInt16 = 0
    for _ in 0..<4 {
      guard let digit = Hexadecimal.digit(peek()) else { throw expected("four hexadecimal digits behind '\\u'") }
      unit = unit << 4 | UInt16(digit)
      offset += 1
    }
    return unit
  }
}
