/// Converts field values and reason phrases between bytes and text.
///
/// On the wire they are bytes: nearly always ASCII, otherwise mostly UTF-8, or ISO 8859-1 from old servers. Nothing
/// says which. So that every byte survives, a byte `0xHH` outside valid UTF-8 becomes U+F7HH, a character of a private
/// use area, and turns back into the byte when a message is sent. If such a character arrives in UTF-8, its three bytes
/// are treated the same way. So decoding and encoding always returns the original bytes, and an entity tag with a
/// Latin-1 letter goes back to its server unchanged.
public enum FieldText {
  private static let escapes: ClosedRange<UInt32> = 0xF780...0xF7FF

  /// The text for `bytes`.
  public static func decode(_ bytes: some Collection<UInt8>) -> String {
    if bytes.allSatisfy({ $0 < 0x80 }) { return String(decoding: bytes, as: UTF8.self) }
    var text = String.UnicodeScalarView()
    var rest = Array(bytes)[...]
    while let first = rest.first {
      let scalar = scalar(at: rest)
      let length = scalar.map { UTF8.width($0) } ?? 1
      text.append(scalar ?? Unicode.Scalar(0xF700 + UInt16(first)) ?? "\u{FFFD}")
      rest = rest.dropFirst(length)
    }
    return String(text)
  }

  /// The bytes for `text`.
  public static func encode(_ text: String) -> [UInt8] {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return Array(text.utf8) }
    var bytes: [UInt8] = []
    for scalar in text.unicodeScalars {
      if escapes.contains(scalar.value) {
        bytes.append(UInt8(truncatingIfNeeded: scalar.value))
      } else {
        bytes += Array(UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
      }
    }
    return bytes
  }

  /// The first character of `bytes`; `nil` if they are not valid UTF-8, or the character is one that stands for a byte.
  private static func scalar(at bytes: ArraySlice<UInt8>) -> Unicode.Scalar? {
    var iterator = bytes.prefix(4).makeIterator()
    var parser = Unicode.UTF8.ForwardParser()
    guard case .valid(let encoded) = parser.parseScalar(from: &iterator) else { return nil }
    let scalar = UTF8.decode(encoded)
    return escapes.contains(scalar.value) ? nil : scalar
  }
}
