/// The header fields of an HTTP message, in the order in which they arrived. Names are compared without regard to case
/// (RFC 9110, section 5.1).
public struct HTTPFields: Sendable, Hashable {
  /// One line of a header.
  public struct Field: Sendable, Hashable {
    /// The name as it was written.
    public let name: String
    /// The value without surrounding white space. Bytes that are not text are represented as `FieldText` says.
    public let value: String

    /// Creates a field.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The lines, in order.
  public private(set) var lines: [Field]

  /// Creates fields from lines.
  public init(_ lines: [Field] = []) {
    self.lines = lines
  }

  /// The value of the field `name`: the values of all its lines, joined by commas as RFC 9110, section 5.3, allows;
  /// `nil` if there are none. Setting it replaces all its lines by one, at the position of the first.
  public subscript(name: String) -> String? {
    get {
      let values = self.values(of: name)
      return values.isEmpty ? nil : values.joined(separator: ", ")
    }
    set {
      let place = lines.firstIndex { Self.isSame($0.name, name) }
      lines.removeAll { Self.isSame($0.name, name) }
      if let newValue { lines.insert(Field(name, newValue), at: place ?? lines.endIndex) }
    }
  }

  /// The values of the lines called `name`, in order.
  public func values(of name: String) -> [String] {
    lines.filter { Self.isSame($0.name, name) }.map(\.value)
  }

  /// Whether there is a line called `name`.
  public func contains(_ name: String) -> Bool {
    lines.contains { Self.isSame($0.name, name) }
  }

  /// Adds a line at the end.
  public mutating func append(_ name: String, _ value: String) {
    lines.append(Field(name, value))
  }

  /// Whether two names are equal, ignoring the case of ASCII letters.
  public static func isSame(_ left: String, _ right: String) -> Bool {
    left.utf8.count == right.utf8.count && zip(left.utf8, right.utf8).allSatisfy { lowercased($0) == lowercased($1) }
  }

  private static func lowercased(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }
}

extension HTTPFields: ExpressibleByDictionaryLiteral {
  /// Creates fields with a line for each pair, in order.
  public init(dictionaryLiteral elements: (String, String)...) {
    self.init(elements.map { Field($0.0, $0.1) })
  }
}
