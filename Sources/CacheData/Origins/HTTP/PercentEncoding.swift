/// Percent-encodes text for use in URLs (RFC 3986, section 2), as UTF-8 bytes.
enum PercentEncoding {
  /// The characters that never need encoding (section 2.3).
  static let unreserved = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)
  private static let inPath = unreserved.union("/!$&'()*+,;=:@".utf8)
  private static let inQuery = inPath.union("?".utf8)
  private static let percent = UInt8(ascii: "%")
  private static let digits = Array("0123456789ABCDEF".utf8)

  /// Encodes `text` as the name or value of a query parameter.
  static func queryPart(_ text: String) -> String { encode(text.utf8, keeping: unreserved) }

  /// Encodes `text` as a path, and keeps its slashes.
  static func path(_ text: String) -> String { encode(text.utf8, keeping: inPath) }

  /// Encodes the characters of `text`, an already encoded path or query, that must not occur there.
  static func completed(_ text: Substring.UTF8View, isQuery: Bool) -> String {
    encode(text, keeping: isQuery ? inQuery : inPath, areCodesKept: true)
  }

  /// Decodes the percent codes in `text`. Keeps anything that is not a valid code.
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

  /// The byte that the first two digits of `rest` encode; `nil` if they are not hexadecimal.
  private static func code(_ rest: ArraySlice<UInt8>) -> UInt8? {
    let digits = rest.prefix(2).compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
    return digits.count == 2 ? UInt8(digits[0] << 4 | digits[1]) : nil
  }
}
