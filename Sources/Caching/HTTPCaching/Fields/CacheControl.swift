internal import CacheBase

/// The directives of `Cache-Control` fields (RFC 9111, section 5.2).
package struct CacheControl: Sendable, Hashable {
  /// A directive and its argument.
  private struct Directive: Sendable, Hashable {
    let name: String
    var argument: String?
    /// The argument, if it is a number of seconds.
    var seconds: Duration?
  }

  private var directives: [Directive] = []

  /// Reads the directives of the lines `values`, in order.
  ///
  /// Malformed text never hides a restriction: of a directive that is malformed, or that follows a malformed quoted
  /// string, the name counts if it restricts the cache, and otherwise nothing.
  init(_ values: [String]) {
    for value in values {
      FieldList.read(value, isStrict: true) { member, isMalformed in
        if let directive = Self.directive(member, isMalformed) { directives.append(directive) }
      }
    }
  }

  /// Reads the directives of `fields`.
  package init(_ fields: HTTP.Fields) {
    self.init(fields.values(of: "cache-control"))
  }

  /// Reads `CDN-Cache-Control` (RFC 9213), the directives for shared caches, which replace `Cache-Control` and `Expires`:
  /// seconds are integers, lists of names are strings, and flags are set or not. `nil` if the field is absent, empty or
  /// malformed: section 2.1 tells caches to ignore a malformed one altogether.
  init?(targeted fields: HTTP.Fields) {
    guard let value = fields["cdn-cache-control"] else { return nil }
    var parser = StructuredFieldParser(value)
    guard let members = parser.dictionary(), !members.isEmpty else { return nil }
    directives = members.compactMap { name, value in
      switch value {
      case .flag(let isSet): isSet ? Directive(name: name) : nil
      case .integer(let digits): Directive(name: name, argument: digits, seconds: DeltaSeconds.duration(digits))
      case .text(let text): Directive(name: name, argument: text)
      case .other: Directive(name: name)
      }
    }
  }

  /// Whether the directive `name` is present, with or without an argument.
  package func contains(_ name: String) -> Bool {
    directives.contains { $0.name == name }
  }

  /// The argument of the first directive `name`, in seconds (RFC 9111, section 4.2.1); `nil` if the directive is absent, or
  /// its argument is not a number of seconds.
  func seconds(_ name: String) -> Duration? {
    directives.first { $0.name == name }?.seconds
  }

  /// The field names to which the directive `name` is restricted, in lower case; empty if it applies to the whole
  /// response, also because its argument is not a list of names; `nil` if it is absent.
  func fieldNames(_ name: String) -> [String]? {
    let found = directives.filter { $0.name == name }
    guard !found.isEmpty else { return nil }
    let names = found.flatMap { FieldList.names($0.argument ?? "") }
    return found.allSatisfy { $0.argument != nil } && names.allSatisfy(HTTPSyntax.isToken) ? names : []
  }

  /// Directives that restrict the cache, or make a response stale if their argument is malformed.
  private static let restrictions: Set = [
    "no-store", "no-cache", "private", "must-revalidate", "proxy-revalidate", "max-age", "s-maxage",
  ]

  private static func directive(_ member: Substring, _ isMalformed: Bool) -> Directive? {
    guard let start = member.utf8.firstIndex(where: HTTPSyntax.isTokenByte) else { return nil }
    let end = member.utf8[start...].firstIndex { !HTTPSyntax.isTokenByte($0) } ?? member.endIndex
    let (name, rest) = (member[start..<end].lowercased(), member[end...])
    guard !isMalformed, start == member.startIndex, rest.isEmpty || rest.utf8.first == UInt8(ascii: "=") else {
      return restrictions.contains(name) ? Directive(name: name) : nil
    }
    if rest.isEmpty { return Directive(name: name) }
    let argument = unquoted(rest.dropFirst())
    return Directive(name: name, argument: argument, seconds: DeltaSeconds.duration(argument))
  }

  private static func unquoted(_ text: Substring) -> String {
    guard text.count >= 2, text.first == "\"", text.last == "\"" else { return String(text) }
    var content = ""
    var isEscape = false
    for character in text.dropFirst().dropLast() {
      isEscape = character == "\\" && !isEscape
      if !isEscape { content.append(character) }
    }
    return content
  }
}

/// Parses dictionaries in structured-field syntax by the algorithms of RFC 8941, section 4.2, as far as cache directives
/// need them: parameters are checked and dropped. Each function consumes what it parses, and returns `nil` if the text is
/// malformed.
private struct StructuredFieldParser {
  /// The value of a member.
  enum Value {
    case flag(Bool)
    /// The digits of an integer, with its sign.
    case integer(String)
    /// The content of a string, or a token.
    case text(String)
    /// A decimal number, bytes, or a list.
    case other
  }

  private var rest: ArraySlice<UInt8>

  /// Creates a parser for the value of a field.
  init(_ text: String) { rest = Array(text.utf8)[...] }

  /// Parses a dictionary up to the end of the text (section 4.2.2). If a key occurs several times, the last one counts.
  mutating func dictionary() -> [(key: String, value: Value)]? {
    var members: [(key: String, value: Value)] = []
    skip(" ")
    while !rest.isEmpty {
      guard let key = key(), let value = memberValue(), skipParameters() else { return nil }
      members.removeAll { $0.key == key }
      members.append((key, value))
      skip(" \t")
      if rest.isEmpty { return members }
      guard take(",") else { return nil }
      skip(" \t")
      if rest.isEmpty { return nil }
    }
    return members
  }

  private mutating func memberValue() -> Value? {
    guard take("=") else { return .flag(true) }
    return rest.first == UInt8(ascii: "(") ? innerList() : bareItem()
  }

  /// Parses an inner list (section 4.2.1.2).
  private mutating func innerList() -> Value? {
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
  private mutating func bareItem() -> Value? {
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
  private mutating func number() -> Value? {
    let sign = take("-") ? "-" : ""
    let whole = text(while: \.isASCIIDigit)
    guard take(".") else { return (1...15).contains(whole.utf8.count) ? .integer(sign + whole) : nil }
    let fraction = text(while: \.isASCIIDigit)
    return (1...12).contains(whole.utf8.count) && (1...3).contains(fraction.utf8.count) ? .other : nil
  }

  /// Parses a string (section 4.2.5).
  private mutating func string() -> Value? {
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
  private mutating func bytes() -> Value? {
    guard take(":") else { return nil }
    _ = text { $0.isASCIILetterOrDigit || Self.isOne($0, of: "+/=") }
    return take(":") ? .other : nil
  }

  /// Parses a boolean (section 4.2.8).
  private mutating func flag() -> Value? {
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
