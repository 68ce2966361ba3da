/// Texts as parts of a URL (RFC 3986, section 2): what may not stand there is written as its UTF-8 bytes, percent-encoded.
enum PercentEncoding {
  /// The characters that need no encoding anywhere (section 2.3).
  static let unreserved = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)
  private static let inPath = unreserved.union("/!$&'()*+,;=:@".utf8)
  private static let digits = Array("0123456789ABCDEF".utf8)

  /// `text` as the name or the value of a query parameter.
  static func queryPart(_ text: String) -> String { encode(text, keeping: unreserved) }

  /// `text` as a path; its slashes remain.
  static func path(_ text: String) -> String { encode(text, keeping: inPath) }

  private static func encode(_ text: String, keeping kept: Set<UInt8>) -> String {
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      if kept.contains(byte) {
        bytes.append(byte)
      } else {
        bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
