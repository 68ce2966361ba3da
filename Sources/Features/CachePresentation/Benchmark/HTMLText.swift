/// Writes HTML (living standard of the WHATWG) and the SVG within it.
enum HTMLText {
  /// `text` as the content of an element or the value of a quoted attribute.
  static func escaped(_ text: String) -> String {
    var escaped = ""
    for character in text {
      switch character {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      default: escaped.append(character)
      }
    }
    return escaped
  }

  /// The element `name` around `content`, which is already HTML.
  static func element(_ name: String, _ attributes: [(String, String)] = [], _ content: String) -> String {
    let written = attributes.map { " \($0.0)=\"\(escaped($0.1))\"" }.joined()
    return "<\(name)\(written)>\(content)</\(name)>"
  }

  /// The element `name` around a text.
  static func element(_ name: String, _ attributes: [(String, String)] = [], text: String) -> String {
    element(name, attributes, escaped(text))
  }

  /// `text` with spaces that do not break the line, as between a number and its unit.
  static func unbroken(_ text: String) -> String { String(text.map { $0 == " " ? "\u{A0}" : $0 }) }

  /// A coordinate, rounded to tenths.
  static func number(_ value: Double) -> String {
    let sign = value < -0.05 ? "-" : ""
    return sign + NumberText.decimal(abs(value), places: 1).split(separator: ",").joined()
  }
}
