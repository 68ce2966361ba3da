/// The fields of a message in a table: an origin adds `Date` and `Content-Type` where they are missing.
struct SuiteFields: Sendable, ExpressibleByDictionaryLiteral {
  /// What a field says, or is expected to say.
  enum Value: Sendable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    /// Just this.
    case text(String)
    /// This, which a cache may pass on in another form.
    case loose(String)
    /// The date so many seconds after the moment that dates are counted from.
    case date(Int)
    /// The same in the form of RFC 850.
    case obsoleteDate(Int)
    /// The path of the request with this added.
    case place(String)
    /// Anything.
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
