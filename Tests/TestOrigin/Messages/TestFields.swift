/// The header fields of a message as they stand on the wire: in order, with repetitions. Names match in any case.
public struct TestFields: Sendable, Hashable, ExpressibleByDictionaryLiteral {
  /// One field line.
  public struct Line: Sendable, Hashable {
    /// The name as it was written.
    public let name: String
    /// The value, without white space around it.
    public let value: String
  }

  /// The lines in order.
  public private(set) var lines: [Line] = []

  /// The given lines, in order.
  public init(dictionaryLiteral elements: (String, String)...) {
    for (name, value) in elements { append(name, value) }
  }

  /// Adds a line after the others.
  public mutating func append(_ name: String, _ value: String) { lines.append(Line(name: name, value: value)) }

  /// The values of all lines with this name, in order.
  public func values(_ name: String) -> [String] { lines.filter { Self.match($0.name, name) }.map(\.value) }

  /// The values with this name, joined by commas as RFC 9110, section 5.2, allows; `nil` where there is none. An
  /// assignment takes the place of all lines with the name, `nil` removes them.
  public subscript(_ name: String) -> String? {
    get {
      let values = values(name)
      return values.isEmpty ? nil : values.joined(separator: ", ")
    }
    set {
      lines.removeAll { Self.match($0.name, name) }
      if let newValue { append(name, newValue) }
    }
  }

  /// These fields, with those of `others` in place of the lines of the same names.
  public func replacing(with others: TestFields) -> TestFields {
    var fields = self
    for line in others.lines { fields[line.name] = nil }
    fields.lines += others.lines
    return fields
  }

  private static func match(_ name: String, _ other: String) -> Bool { name.lowercased() == other.lowercased() }
}
