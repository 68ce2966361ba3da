/// Reads comma-separated values as RFC 4180 writes them.
enum CSVReader {
  /// The fields of each record; `nil` if the text breaks a rule.
  static func records(_ text: String) -> [[String]]? {
    var rest = Substring(text)
    var records: [[String]] = []
    while !rest.isEmpty {
      guard let record = record(&rest) else { return nil }
      records.append(record)
    }
    return records
  }

  private static func record(_ rest: inout Substring) -> [String]? {
    var fields: [String] = []
    while let field = field(&rest) {
      fields.append(field)
      guard let next = rest.popFirst() else { return fields }
      // Swift reads a carriage return with its line feed as one character.
      if next == "\r\n" { return fields }
      guard next == "," else { return nil }
    }
    return nil
  }

  private static func field(_ rest: inout Substring) -> String? {
    guard rest.first == "\"" else {
      let field = rest.prefix { $0 != "," && $0 != "\r\n" }
      rest = rest[field.endIndex...]
      return field.contains { $0 == "\"" || $0 == "\n" } ? nil : String(field)
    }
    rest.removeFirst()
    var field = ""
    while let character = rest.popFirst() {
      if character != "\"" {
        field.append(character)
      } else if rest.first == "\"" {
        field.append("\"")
        rest.removeFirst()
      } else {
        return field
      }
    }
    return nil
  }
}
