/// Field values and reason phrases as text.
///
/// They are bytes on the wire: nearly always ASCII, mostly UTF-8 else, and ISO 8859-1 with old servers. Nothing says
/// which. So that every byte survives, one that is not part of valid UTF-8 becomes a character of a private use area:
/// byte `0xHH` is U+F7HH. Those characters are taken for such bytes again when a message is sent, and where one of them
/// comes in as UTF-8 its three bytes are kept apart in the same way. So decoding and encoding always gives the bytes
/// that came, and an entity tag with a Latin-1 letter goes back to its server as it was.
public enum FieldText {
  private static let escapes: ClosedRange<UInt32> = 0xF780...0xF7FF

  /// The text of `bytes`.
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

  /// The bytes of `text`.
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

  /// The character that `bytes` begin with; `nil` where they are not valid, or it is one that stands for a byte.
  private static func scalar(at bytes: ArraySlice<UInt8>) -> Unicode.Scalar? {
    var iterator = bytes.prefix(4).makeIterator()
    var parser = Unicode.UTF8.ForwardParser()
    guard case .valid(let encoded) = parser.parseScalar(from: &iterator) else { return nil }
    let scalar = UTF8.decode(encoded)
    return escapes.contains(scalar.value) ? nil : scalar
  }
}
