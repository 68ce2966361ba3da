/// A JSON document, or a part of one. The members of an object keep their order.
public enum JSONValue: Sendable, Hashable {
  /// One member of an object.
  public struct Member: Sendable, Hashable {
    /// The member's name.
    public let name: String
    /// The member's value.
    public let value: JSONValue

    /// The member `name` with `value`.
    public init(_ name: String, _ value: JSONValue) {
      self.name = name
      self.value = value
    }
  }

  /// The value `null`.
  case null
  /// The value `true` or `false`.
  case boolean(Bool)
  /// A whole number.
  case integer(Int)
  /// A number. One that JSON cannot express (infinite, not a number) is written as `null`.
  case double(Double)
  /// A string.
  case string(String)
  /// An array.
  case array([JSONValue])
  /// An object. The caller keeps names unique.
  case object([Member])

  /// The string `text`, or `null` if there is none.
  public init(_ text: String?) { self = text.map(JSONValue.string) ?? .null }

  /// The whole number `number`, or `null` if there is none.
  public init(_ number: Int?) { self = number.map(JSONValue.integer) ?? .null }

  /// The number `number`, or `null` if there is none.
  public init(_ number: Double?) { self = number.map(JSONValue.double) ?? .null }

  /// The array of the given strings.
  public init(_ texts: [String]) { self = .array(texts.map(JSONValue.string)) }

  /// The object with the given strings as its members, ordered by name.
  public init(_ texts: [String: String]) {
    self = .object(texts.sorted { $0.key < $1.key }.map { Member($0.key, .string($0.value)) })
  }

  /// The value of the first member called `name`; `nil` if this is not an object or has no such member.
  public subscript(name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.name == name }?.value
  }
}

extension JSONValue: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral, ExpressibleByNilLiteral {
  /// The object with the given members, in the given order.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(elements.map { Member($0.0, $0.1) })
  }

  /// The array of the given elements.
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

  /// The value `null`.
  public init(nilLiteral: ()) { self = .null }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
  /// The string `value`.
  public init(stringLiteral value: String) { self = .string(value) }

  /// The whole number `value`.
  public init(integerLiteral value: Int) { self = .integer(value) }

  /// The value `true` or `false`.
  public init(booleanLiteral value: Bool) { self = .boolean(value) }
}

/// JSON texts (RFC 8259) in UTF-8 for people and scripts.
///
/// Besides what JSON requires, characters are escaped that could act on a terminal (see `TerminalText.isHarmful`), so that
/// the texts can be shown there unchanged. Cost: linear.
public enum JSONText {
  /// The text of `value`, without a final line end.
  public static func text(_ value: JSONValue, _ layout: JSONWriter.Layout = .compact) -> String {
    String(decoding: bytes(of: value, layout), as: UTF8.self)
  }

  /// Appends the text of `value`, without a final line end, to `bytes`.
  public static func append(_ value: JSONValue, _ layout: JSONWriter.Layout = .compact, to bytes: inout [UInt8]) {
    bytes += Self.bytes(of: value, layout)
  }

  private static func bytes(of value: JSONValue, _ layout: JSONWriter.Layout) -> [UInt8] {
    var json = JSONWriter(layout: layout)
    value.write(to: &json)
    return safe(json.bytes)
  }

  /// The JSON text `text` with one member or element per line, indented by two spaces; `nil` if it is not JSON, or is nested
  /// deeper than a `JSONDocument` can be. Numbers keep their digits.
  public static func indented(_ text: String) -> String? {
    guard let document = try? JSONDocument(parsing: Array(text.utf8), allowsRepeatedKeys: true) else { return nil }
    var json = JSONWriter(layout: .pretty)
    document.root.value.write(to: &json)
    return String(decoding: safe(json.bytes), as: UTF8.self)
  }

  /// JSON lines with escapes for all characters that could act on a terminal. The meaning is unchanged: apart from line
  /// ends, such characters can only occur in strings. Cost: one pass if there are none.
  public static func safe(_ lines: [UInt8]) -> [UInt8] {
    if lines.allSatisfy({ 0x20..<0x7F ~= $0 || $0 == 0x0A }) { return lines }
    let text = String(decoding: lines, as: UTF8.self)
    guard text.unicodeScalars.contains(where: isEscaped) else { return Array(text.utf8) }
    var safe: [UInt8] = []
    for scalar in text.unicodeScalars {
      if isEscaped(scalar) { safe += escape(scalar).utf8 } else { safe += scalar.utf8 }
    }
    return safe
  }

  private static func isEscaped(_ scalar: Unicode.Scalar) -> Bool { TerminalText.isHarmful(scalar) && scalar != "\n" }

  /// The escape of a harmful character. They are all below U+10000, so four digits are enough.
  private static func escape(_ scalar: Unicode.Scalar) -> String {
    "\\u" + Hexadecimal.text(UInt16(truncatingIfNeeded: scalar.value))
  }
}

extension JSONValue {
  fileprivate func write(to json: inout JSONWriter) {
    switch self {
    case .null: json.null()
    case .boolean(let value): json.boolean(value)
    case .integer(let number): json.integer(number)
    case .double(let number): json.number(number)
    case .string(let text): json.text(text)
    case .array(let elements): json.array(elements) { json, element in element.write(to: &json) }
    case .object(let members):
      json.object { json in
        for member in members {
          json.name(member.name)
          member.value.write(to: &json)
        }
      }
    }
  }
}

extension JSONDocument.Value {
  fileprivate func write(to json: inout JSONWriter) {
    switch self {
    case .null: json.null()
    case .boolean(let value): json.boolean(value)
    case .number(let digits): json.literal(digits)
    case .text(let text): json.text(text)
    case .array(let nodes): json.array(nodes) { json, node in node.value.write(to: &json) }
    case .object(let members):
      json.object { json in
        for member in members {
          json.name(member.key)
          member.node.value.write(to: &json)
        }
      }
    }
  }
}
