extension HTTP {
  /// The header fields of an HTTP message, in the order in which they arrived. Names are compared without regard to case
  /// (RFC 9110, section 5.1).
  public struct Fields: Sendable, Hashable {
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
}

extension HTTP.Fields: ExpressibleByDictionaryLiteral {
  /// Creates fields with a line for each pair, in order.
  public init(dictionaryLiteral elements: (String, String)...) {
    self.init(elements.map { Field($0.0, $0.1) })
  }
}

/// Converts field values and reason phrases between bytes and text.
///
/// On the wire they are bytes: nearly always ASCII, otherwise mostly UTF-8, or ISO 8859-1 from old servers. Nothing
/// says which. So that every byte survives, each byte `0xHH` outside ASCII of a value that is not valid UTF-8 becomes
/// U+F7HH, a character of a private use area, and turns back into the byte when a message is sent. A value in UTF-8 with
/// such a character is treated the same way. So decoding and encoding always returns the original bytes, and an entity
/// tag with a Latin-1 letter goes back to its server unchanged.
public enum FieldText {
  /// The text for `bytes`.
  public static func decode(_ bytes: ArraySlice<UInt8>) -> String {
    if bytes.allSatisfy({ $0 < 0x80 }) { return String(decoding: bytes, as: UTF8.self) }
    if let text = String(validating: bytes, as: UTF8.self), !text.unicodeScalars.contains(where: isEscape) {
      return text
    }
    var text = String.UnicodeScalarView()
    for byte in bytes {
      text.append(byte < 0x80 ? Unicode.Scalar(byte) : Unicode.Scalar(0xF700 + UInt16(byte)) ?? "\u{FFFD}")
    }
    return String(text)
  }

  /// The bytes for `text`.
  public static func encode(_ text: String) -> [UInt8] {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return Array(text.utf8) }
    var bytes: [UInt8] = []
    for scalar in text.unicodeScalars {
      if isEscape(scalar) {
        bytes.append(UInt8(truncatingIfNeeded: scalar.value))
      } else {
        bytes += Array(UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
      }
    }
    return bytes
  }

  /// Whether `scalar` stands for a byte.
  private static func isEscape(_ scalar: Unicode.Scalar) -> Bool { (0xF780...0xF7FF).contains(scalar.value) }
}
