/// Texts as parts of a URL (RFC 3986, section 2): what may not stand there is written as its UTF-8 bytes, percent-encoded.
enum PercentEncoding {
  /// The characters that need no encoding anywhere (section 2.3).
  static let unreserved = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)
  private static let inPath = unreserved.union("/!$&'()*+,;=:@".utf8)
  private static let inQuery = inPath.union("?".utf8)
  private static let percent = UInt8(ascii: "%")
  private static let digits = Array("0123456789ABCDEF".utf8)

  /// `text` as the name or the value of a query parameter.
  static func queryPart(_ text: String) -> String { encode(text.utf8, keeping: unreserved) }

  /// `text` as a path; its slashes remain.
  static func path(_ text: String) -> String { encode(text.utf8, keeping: inPath) }

  /// `text`, a path or a query that is encoded already, with what may not stand there encoded too.
  static func completed(_ text: Substring.UTF8View, isQuery: Bool) -> String {
    encode(text, keeping: isQuery ? inQuery : inPath, areCodesKept: true)
  }

  /// `text` with its codes decoded. What is no code stays.
  static func decoded(_ text: Substring) -> [UInt8] {
    var (bytes, rest) = ([UInt8](), Array(text.utf8)[...])
    while let byte = rest.popFirst() {
      if let code = byte == percent ? code(rest) : nil {
        bytes.append(code)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return bytes
  }

  private static func encode(
    _ text: some Collection<UInt8>, keeping kept: Set<UInt8>, areCodesKept: Bool = false
  ) -> String {
    let utf8 = Array(text)
    var bytes: [UInt8] = []
    for (index, byte) in utf8.enumerated() {
      if kept.contains(byte) || areCodesKept && byte == percent && code(utf8[(index + 1)...]) != nil {
        bytes.append(byte)
      } else {
        bytes += [percent, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The byte whose two digits `rest` begins with; `nil` where it does not.
  private static func code(_ rest: ArraySlice<UInt8>) -> UInt8? {
    let digits = rest.prefix(2).compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
    return digits.count == 2 ? UInt8(digits[0] << 4 | digits[1]) : nil
  }
}
