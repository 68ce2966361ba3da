import CacheCore

extension SuiteFields {
  private static let weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]

  /// The fields as they are sent, with dates relative to `now` and places relative to `path`.
  func fields(datedFrom now: Duration, at path: String = "") -> HTTPFields {
    HTTPFields(
      lines.compactMap { line in
        Self.text(line.value, datedFrom: now, at: path).map { HTTPFields.Field(line.name, $0) }
      })
  }

  /// `value` as it is sent, without surrounding white space; `nil` if it is only an expectation.
  static func text(_ value: Value, datedFrom now: Duration, at path: String = "") -> String? {
    switch value {
    case .text(let text), .loose(let text): trimmed(text)
    case .date(let offset): HTTPDate.text(now + .seconds(offset))
    case .obsoleteDate(let offset): obsoleteDate(now + .seconds(offset))
    case .place(let suffix): path + suffix
    case .present, .above: nil
    }
  }

  /// `Sunday, 06-Nov-94 08:49:37 GMT` (RFC 9110, section 5.6.7).
  private static func obsoleteDate(_ time: Duration) -> String {
    let words = HTTPDate.text(time).split(separator: " ")
    let day = weekdays.first { $0.hasPrefix(words[0].prefix(3)) } ?? ""
    return "\(day), \(words[1])-\(words[2])-\(words[3].suffix(2)) \(words[4]) GMT"
  }

  private static func trimmed(_ text: String) -> String {
    String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
  }
}
