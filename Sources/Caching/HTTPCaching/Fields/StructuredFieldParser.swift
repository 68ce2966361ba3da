internal import Base

/// A dictionary in structured-field syntax (RFC 8941, section 3.2), as far as cache directives need it: parameters are
/// checked and dropped.
struct StructuredDictionary: Sendable, Hashable {
  /// The value of a member.
  enum Value: Sendable, Hashable {
    case flag(Bool)
    /// The digits of an integer, with its sign.
    case integer(String)
    /// The content of a string, or a token.
    case text(String)
    /// A decimal number, bytes, or a list.
    case other
  }

  /// A key and its value.
  struct Member: Sendable, Hashable {
    let key: String
    let value: Value
  }

  /// The members. If a key occurs several times, the last one counts.
  let members: [Member]

  /// Parses `text`; `nil` if any of it is malformed.
  init?(_ text: String) {
    var parser = StructuredFieldParser(text)
    guard let members = parser.dictionary() else { return nil }
    self.members = members.enumerated().filter { index, member in
      !members[(index + 1)...].contains { $0.key == member.key }
    }.map(\.element)
  }
}

/// Parses structured fields by the algorithms of RFC 8941, section 4.2. Each function consumes what it parses, and
/// returns `nil` if the text is malformed.
struct StructuredFieldParser {
  private var rest: ArraySlice<UInt8>

  /// Creates a parser for the value of a field.
  init(_ text: String) { rest = Array(text.utf8)[...] }

  /// Parses a dictionary up to the end of the text (section 4.2.2).
  mutating func dictionary() -> [StructuredDictionary.Member]? {
    var members: [StructuredDictionary.Member] = []
    skip(" ")
    while !rest.isEmpty {
      guard let key = key(), let value = memberValue(), skipParameters() else { return nil }
      members.append(StructuredDictionary.Member(key: key, value: value))
      skip(" \t")
      if rest.isEmpty { return members }
      guard take(",") else { return nil }
      skip(" \t")
      if rest.isEmpty { return nil }
    }
    return members
  }

  private mutating func memberValue() -> StructuredDictionary.Value? {
    guard take("=") else { return .flag(true) }
    return rest.first == UInt8(ascii: "(") ? innerList() : bareItem()
  }

  /// Parses an inner list (section 4.2.1.2).
  private mutating func innerList() -> StructuredDictionary.Value? {
    guard take("(") else { return nil }
    while true {
      skip(" ")
      if take(")") { return .other }
      guard bareItem() != nil, skipParameters(), rest.first == UInt8(ascii: " ") || rest.first == UInt8(ascii: ")")
      else { return nil }
    }
  }

  /// Checks and skips parameters (section 4.2.3.2).
  private mutating func skipParameters() -> Bool {
    while take(";") {
      skip(" ")
      guard key() != nil else { return false }
      if take("="), bareItem() == nil { return false }
    }
    return true
  }

  /// Parses a key (section 4.2.3.3).
  private mutating func key() -> String? {
    guard let first = rest.first, Self.isLowercase(first) || first == UInt8(ascii: "*") else { return nil }
    return text { Self.isLowercase($0) || $0.isASCIIDigit || Self.isOne($0, of: "_-.*") }
  }

  /// Parses a value without parameters (section 4.2.3.1).
  private mutating func bareItem() -> StructuredDictionary.Value? {
    switch rest.first {
    case UInt8(ascii: "?"): flag()
    case UInt8(ascii: "\""): string()
    case UInt8(ascii: ":"): bytes()
    case let first? where first.isASCIIDigit || first == UInt8(ascii: "-"): number()
    case let first? where first.isASCIILetter || first == UInt8(ascii: "*"):
      .text(text { HTTPSyntax.isTokenByte($0) || Self.isOne($0, of: ":/") })
    default: nil
    }
  }

  /// Parses a number (section 4.2.4): up to 15 digits, or up to 12 followed by a point and up to 3 more.
  private mutating func number() -> StructuredDictionary.Value? {
    let sign = take("-") ? "-" : ""
    let whole = text(while: \.isASCIIDigit)
    guard take(".") else { return (1...15).contains(whole.utf8.count) ? .integer(sign + whole) : nil }
    let fraction = text(while: \.isASCIIDigit)
    return (1...12).contains(whole.utf8.count) && (1...3).contains(fraction.utf8.count) ? .other : nil
  }

  /// Parses a string (section 4.2.5).
  private mutating func string() -> StructuredDictionary.Value? {
    guard take("\"") else { return nil }
    var content = ""
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "\"") { return .text(content) }
      let isEscape = byte == UInt8(ascii: "\\")
      guard let character = isEscape ? rest.popFirst() : byte, (0x20...0x7E).contains(character),
        !isEscape || Self.isOne(character, of: "\"\\")
      else { return nil }
      content.unicodeScalars.append(Unicode.Scalar(character))
    }
    return nil
  }

  /// Parses bytes (section 4.2.7) and drops them, as no cache directive uses them.
  private mutating func bytes() -> StructuredDictionary.Value? {
    guard take(":") else { return nil }
    _ = text { $0.isASCIILetterOrDigit || Self.isOne($0, of: "+/=") }
    return take(":") ? .other : nil
  }

  /// Parses a boolean (section 4.2.8).
  private mutating func flag() -> StructuredDictionary.Value? {
    guard take("?") else { return nil }
    if take("1") { return .flag(true) }
    return take("0") ? .flag(false) : nil
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard rest.first == UInt8(ascii: character) else { return false }
    rest.removeFirst()
    return true
  }

  private mutating func skip(_ characters: StaticString) {
    _ = text { Self.isOne($0, of: characters) }
  }

  private mutating func text(while isPart: (UInt8) -> Bool) -> String {
    let part = rest.prefix(while: isPart)
    rest = rest[part.endIndex...]
    return String(decoding: part, as: UTF8.self)
  }

  private static func isLowercase(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }

  private static func isOne(_ byte: UInt8, of characters: StaticString) -> Bool {
    characters.withUTF8Buffer { $0.contains(byte) }
  }
}
