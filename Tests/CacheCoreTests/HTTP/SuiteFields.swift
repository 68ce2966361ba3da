/// The fields of a message in a table. An origin adds `Date` and `Content-Type` if they are missing.
struct SuiteFields: Sendable, ExpressibleByDictionaryLiteral {
  /// The value of a field, sent or expected.
  enum Value: Sendable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    /// This text.
    case text(String)
    /// This text, which a cache may pass on in another form.
    case loose(String)
    /// The date this many seconds after the time that dates are relative to.
    case date(Int)
    /// That date in the format of RFC 850.
    case obsoleteDate(Int)
    /// The request's path with this text appended.
    case place(String)
    /// Any value.
    case present
    /// A number greater than this.
    case above(Int)

    init(stringLiteral value: String) { self = .text(value) }
    init(integerLiteral value: Int) { self = .date(value) }
  }

  /// One line.
  struct Line: Sendable {
    let name: String
    let value: Value
  }

  private(set) var lines: [Line]

  init(dictionaryLiteral elements: (String, Value)...) {
    lines = elements.map { Line(name: $0.0, value: $0.1) }
  }

  /// The lines of both, in order.
  static func + (left: SuiteFields, right: SuiteFields) -> SuiteFields {
    var sum = left
    sum.lines += right.lines
    return sum
  }

  /// Adds a line at the end.
  mutating func append(_ name: String, _ value: Value) {
    lines.append(Line(name: name, value: value))
  }
}
