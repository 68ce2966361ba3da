/// Percent-encoding (RFC 3986, section 2): writes a byte that must not occur in a part of a URL or key as `%XX`, with
/// upper-case digits.
package enum PercentEncoding {
  private static let percent = UInt8(ascii: "%")

  /// Whether `byte` is a character that never needs encoding (section 2.3).
  package static func isUnreserved(_ byte: UInt8) -> Bool {
    // A single switch compiles to a test of one bit. It matters: every key goes through here.
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "~"):
      true
    default: false
    }
  }

  private static func mayStandInPath(_ byte: UInt8) -> Bool {
    isUnreserved(byte) || "/!$&'()*+,;=:@".utf8.contains(byte)
  }

  /// Appends `text` to `bytes`, with every byte encoded except unreserved characters, as in the names and values of
  /// keys. Cost: one pass if nothing needs encoding.
  package static func append(_ text: String, to bytes: inout [UInt8]) {
    text.utf8.span.withUnsafeBufferPointer { text in
      if text.allSatisfy(isUnreserved) { return bytes.append(contentsOf: text) }
      for byte in text { if isUnreserved(byte) { bytes.append(byte) } else { append(codeOf: byte, to: &bytes) } }
    }
  }

  /// `text` with every byte encoded except unreserved characters, as in the name or value of a query parameter.
  package static func text(_ text: String) -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count)
    append(text, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Encodes `text` as a path, and keeps its slashes.
  package static func path(_ text: String) -> String {
    encode(text[...].utf8, areCodesKept: false, keeping: mayStandInPath)
  }

  /// Encodes the characters of `text`, an already encoded path or query, that must not occur there.
  package static func completed(_ text: Substring, isQuery: Bool) -> String {
    encode(text.utf8, areCodesKept: true) { mayStandInPath($0) || isQuery && $0 == UInt8(ascii: "?") }
  }

  /// The URL `url` in the form by which equal ones are recognized (sections 6.2.2.1 and 6.2.2.2): without codes of
  /// characters that never need one, and all other codes in upper case.
  package static func normalized(_ url: String) -> String {
    guard url.utf8.contains(percent) else { return url }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(url.utf8.count)
    forEachByte(of: url[...].utf8) { byte, isCode in
      if isCode, !isUnreserved(byte) { append(codeOf: byte, to: &bytes) } else { bytes.append(byte) }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// `bytes` as text, with those encoded that are not ASCII.
  package static func ascii(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    for byte in bytes { if byte < 0x80 { text.append(byte) } else { append(codeOf: byte, to: &text) } }
    return String(decoding: text, as: UTF8.self)
  }

  /// Decodes the codes in `text`. Keeps anything that is not a valid code.
  package static func decoded(_ text: Substring) -> [UInt8] {
    var bytes: [UInt8] = []
    forEachByte(of: text.utf8) { byte, _ in bytes.append(byte) }
    return bytes
  }

  /// Calls `body` with each byte of `text`, and whether a code stands for it, which is decoded.
  private static func forEachByte(of text: Substring.UTF8View, _ body: (UInt8, _ isCode: Bool) -> Void) {
    var rest = Array(text)[...]
    while let byte = rest.popFirst() {
      let code = byte == percent ? Hexadecimal.number(rest.prefix(2), as: UInt8.self) : nil
      if code != nil { rest = rest.dropFirst(2) }
      body(code ?? byte, code != nil)
    }
  }

  private static func encode(
    _ text: Substring.UTF8View, areCodesKept: Bool, keeping isKept: (UInt8) -> Bool
  ) -> String {
    let text = Array(text)
    if text.allSatisfy(isKept) { return String(decoding: text, as: UTF8.self) }
    var bytes: [UInt8] = []
    for (index, byte) in text.enumerated() {
      let isCode =
        areCodesKept && byte == percent && Hexadecimal.number(text[(index + 1)...].prefix(2), as: UInt8.self) != nil
      if isCode || isKept(byte) { bytes.append(byte) } else { append(codeOf: byte, to: &bytes) }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func append(codeOf byte: UInt8, to bytes: inout [UInt8]) {
    bytes.append(percent)
    bytes.append(Hexadecimal.upperCaseDigit(byte >> 4))
    bytes.append(Hexadecimal.upperCaseDigit(byte & 15))
  }
}
