/// Writes strings in JSON (RFC 8259, section 7). `JSONReader` reads them.
public enum JSONString {
  /// Appends `text`, which is UTF-8, in quotes to `bytes`. Escapes only what JSON does not allow, and DEL because of
  /// terminals. Cost: one pass, with one copy for each stretch between escapes.
  public static func append(_ text: Span<UInt8>, to bytes: inout [UInt8]) {
    bytes.append(quote)
    var start = 0
    for index in text.indices where isEscaped(text[index]) {
      append(text.extracting(start..<index), unescapedTo: &bytes)
      appendEscape(of: text[index], to: &bytes)
      start = index + 1
    }
    append(text.extracting(start..<text.count), unescapedTo: &bytes)
    bytes.append(quote)
  }

  /// Appends `text` in quotes to `bytes` in the same way.
  public static func append(_ text: String, to bytes: inout [UInt8]) {
    append(Array(text.utf8).span, to: &bytes)
  }

  /// `text` in quotes, safe for a terminal. Messages quote users' texts this way.
  package static func quoted(_ text: String) -> String {
    var bytes: [UInt8] = []
    append(text, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  private static let quote = UInt8(ascii: "\"")

  private static func isEscaped(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == quote || byte == UInt8(ascii: "\\") || byte == 0x7F
  }

  private static func append(_ text: Span<UInt8>, unescapedTo bytes: inout [UInt8]) {
    text.withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
  }

  private static func appendEscape(of byte: UInt8, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\\"))
    switch byte {
    case quote, UInt8(ascii: "\\"): bytes.append(byte)
    case 0x0A: bytes.append(UInt8(ascii: "n"))
    case 0x0D: bytes.append(UInt8(ascii: "r"))
    case 0x09: bytes.append(UInt8(ascii: "t"))
    default: bytes.append(contentsOf: "u00\(Hexadecimal.text(byte))".utf8)
    }
  }
}
