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

  /// The value of the first member called `name`; `nil` if this is no object or has no such member.
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
