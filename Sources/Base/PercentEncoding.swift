/// Percent-encoding (RFC 3986, section 2): a byte that may not stand in a part of a URL or of a key is written as `%XX`,
/// in upper case.
package enum PercentEncoding {
  private static let percent = UInt8(ascii: "%")

  /// Whether `byte` is a character that needs no encoding anywhere (section 2.3).
  package static func isUnreserved(_ byte: UInt8) -> Bool {
    // One switch becomes a test of one bit: this is in the path of every key.
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

  /// Appends `text` to `bytes`, every byte but unreserved characters encoded: the names and values in keys. Cost: one
  /// pass where nothing needs encoding.
  package static func append(_ text: String, to bytes: inout [UInt8]) {
    text.utf8.span.withUnsafeBufferPointer { text in
      if text.allSatisfy(isUnreserved) { return bytes.append(contentsOf: text) }
      for byte in text { if isUnreserved(byte) { bytes.append(byte) } else { append(codeOf: byte, to: &bytes) } }
    }
  }

  /// `text` with every byte but unreserved characters encoded: the name or the value of a parameter in a query.
  package static func text(_ text: String) -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count)
    append(text, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// `text` as a path. Its slashes stay.
  package static func path(_ text: String) -> String {
    encode(text[...].utf8, areCodesKept: false, keeping: mayStandInPath)
  }

  /// `text`, a path or a query that is encoded already, with what may not stand there encoded too.
  package static func completed(_ text: Substring, isQuery: Bool) -> String {
    encode(text.utf8, areCodesKept: true) { mayStandInPath($0) || isQuery && $0 == UInt8(ascii: "?") }
  }

  /// The bytes of `text` with its codes decoded. What is no code stays.
  package static func decoded(_ text: Substring) -> [UInt8] {
    var (bytes, rest) = ([UInt8](), Array(text.utf8)[...])
    while let byte = rest.popFirst() {
      if byte == percent, let code = Hexadecimal.number(rest.prefix(2), as: UInt8.self) {
        bytes.append(code)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return bytes
  }

  private static func encode(
    _ text: Substring.UTF8View, areCodesKept: Bool, keeping isKept: (UInt8) -> Bool
  ) -> String {
    let text = Array(text)
    if text.allSatisfy(isKept) { return String(decoding: text, as: UTF8.self) }
    var bytes: [UInt8] = []
    for (index, byte) in text.enumerated() {
      let isCode = areCodesKept && byte == percent && isCode(text[(index + 1)...])
      if isCode || isKept(byte) { bytes.append(byte) } else { append(codeOf: byte, to: &bytes) }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func isCode(_ rest: ArraySlice<UInt8>) -> Bool {
    Hexadecimal.number(rest.prefix(2), as: UInt8.self) != nil
  }

  private static func append(codeOf byte: UInt8, to bytes: inout [UInt8]) {
    bytes.append(percent)
    bytes.append(Hexadecimal.upperCaseDigit(byte >> 4))
    bytes.append(Hexadecimal.upperCaseDigit(byte & 15))
  }
}
