import Foundation

/// A JSON value that can be compared.
enum JSON: Equatable, Sendable, Decodable {
  case null
  case boolean(Bool)
  case number(Double)
  case text(String)
  case list([JSON])
  case object([String: JSON])

  init(_ data: Data) throws { self = try JSONDecoder().decode(JSON.self, from: data) }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .boolean(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .text(value)
    } else if let value = try? container.decode([JSON].self) {
      self = .list(value)
    } else {
      self = .object(try container.decode([String: JSON].self))
    }
  }

  /// The member called `name`; `nil` if there is none, or if this is not an object.
  subscript(_ name: String) -> JSON? { if case .object(let members) = self { members[name] } else { nil } }

  /// The elements of a list; none if this is something else.
  var elements: [JSON] { if case .list(let elements) = self { elements } else { [] } }

  /// The names of the members, sorted.
  var names: [String] { if case .object(let members) = self { members.keys.sorted() } else { [] } }

  var text: String? { if case .text(let text) = self { text } else { nil } }

  var number: Double? { if case .number(let number) = self { number } else { nil } }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
  init(stringLiteral value: String) { self = .text(value) }
  init(integerLiteral value: Int) { self = .number(Double(value)) }
  init(booleanLiteral value: Bool) { self = .boolean(value) }
}
