/// Writes comma-separated values (RFC 4180): a header, lines that end in CR LF, and quotes where they are required.
///
/// A field that begins with "=", "+", "-" or "@" is not altered: the text is data for programs, and a change would help
/// only spreadsheets.
public enum CSVText {
  /// The lines of `rows`, each with its line end.
  public static func text(_ rows: [[String]]) -> String {
    var text = ""
    for row in rows { append(row, to: &text) }
    return text
  }

  /// The field for `value`: empty for `null`, the text of a string, the strings of an array joined by "; ", and JSON
  /// for all other values.
  public static func field(_ value: JSONValue) -> String {
    switch value {
    case .null: ""
    case .string(let text): text
    case .array(let elements): joined(elements) ?? JSONText.text(value)
    default: JSONText.text(value)
    }
  }

  private static func joined(_ elements: [JSONValue]) -> String? {
    var texts: [String] = []
    for element in elements {
      guard case .string(let text) = element else { return nil }
      texts.append(text)
    }
    return texts.joined(separator: "; ")
  }

  private static func append(_ row: [String], to text: inout String) {
    for (index, field) in row.enumerated() {
      if index > 0 { text += "," }
      append(field, isAlone: row.count == 1, to: &text)
    }
    text += "\r\n"
  }

  /// An empty field alone on its line is quoted too, because many readers skip empty lines.
  private static func append(_ field: String, isAlone: Bool, to text: inout String) {
    guard (isAlone && field.isEmpty) || field.utf8.contains(where: isSpecial) else {
      text += field
      return
    }
    text += "\""
    for scalar in field.unicodeScalars {
      if scalar == "\"" { text.unicodeScalars.append("\"") }
      text.unicodeScalars.append(scalar)
    }
    text += "\""
  }

  private static func isSpecial(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: ","), UInt8(ascii: "\""), UInt8(ascii: "\r"), UInt8(ascii: "\n"): true
    default: false
    }
  }
}
