/// A JSON value to be written, its keys in the order given.
indirect enum JSONText: Sendable {
  case text(String)
  case integer(Int64)
  case boolean(Bool)
  case array([JSONText])
  case object([(key: String, value: JSONText)])

  /// The value on one line.
  var compact: String {
    switch self {
    case .text(let text): Self.quoted(text)
    case .integer(let number): String(number)
    case .boolean(let flag): String(flag)
    case .array(let values): "[" + values.map(\.compact).joined(separator: ", ") + "]"
    case .object(let members):
      "{" + members.map { "\(Self.quoted($0.key)): \($0.value.compact)" }.joined(separator: ", ") + "}"
    }
  }

  /// The value with each key on a line of its own, indented by two spaces a level. Lists stay on one line.
  func pretty(indent: String = "") -> String {
    guard case .object(let members) = self, !members.isEmpty else { return compact }
    let inner = indent + "  "
    let lines = members.map { "\(inner)\(Self.quoted($0.key)): \($0.value.pretty(indent: inner))" }
    return "{\n" + lines.joined(separator: ",\n") + "\n\(indent)}"
  }

  /// `text` as a JSON string. Control characters are escaped, so that it can be sent to a terminal.
  static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\t": result += "\\t"
      case _ where scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value):
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
