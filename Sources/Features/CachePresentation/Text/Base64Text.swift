/// Writes bytes in base64 (RFC 4648, section 4), with padding.
enum Base64Text {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// The text of `bytes`. Cost: linear.
  static func text(_ bytes: [UInt8]) -> String {
    var output: [UInt8] = []
    output.reserveCapacity((bytes.count + 2) / 3 * 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
      append(bytes[start..<min(start + 3, bytes.count)], to: &output)
    }
    return String(decoding: output, as: UTF8.self)
  }

  private static func append(_ group: ArraySlice<UInt8>, to output: inout [UInt8]) {
    var bits: UInt32 = 0
    for byte in group { bits = bits << 8 | UInt32(byte) }
    bits <<= UInt32(8 * (3 - group.count))
    for index in 0...3 {
      let sextet = Int(bits >> UInt32(18 - 6 * index) & 0x3F)
      output.append(index <= group.count ? alphabet[sextet] : UInt8(ascii: "="))
    }
  }
}
