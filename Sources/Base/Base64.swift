/// Bytes as text in base 64 (RFC 4648, section 4), with padding and without line breaks.
public enum Base64 {
  private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let padding = UInt8(ascii: "=")

  /// The value of each digit; 64 for what is none.
  private static let values: [UInt8] = {
    var values = [UInt8](repeating: 64, count: 256)
    for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(value) }
    return values
  }()

  /// The digits of `bytes`. Cost: one pass.
  public static func encoded(_ bytes: [UInt8]) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: (bytes.count + 2) / 3 * 4) { text, count in
      for start in stride(from: 0, to: bytes.count, by: 3) {
        let group = bytes[start..<min(start + 3, bytes.count)]
        var bits: UInt32 = 0
        for index in 0..<3 { bits = bits << 8 | (index < group.count ? UInt32(group[start + index]) : 0) }
        for index in 0..<4 {
          let digit = digits[Int(bits >> UInt32(18 - 6 * index)) & 63]
          text.initializeElement(at: count + index, to: index <= group.count ? digit : padding)
        }
        count += 4
      }
    }
  }

  /// The bytes whose digits `text` are; `nil` where it is anything but whole groups of four digits, the last of them
  /// perhaps with padding, and with no bits set that stand for nothing. Cost: one pass.
  public static func decoded(_ text: some Collection<UInt8>) -> [UInt8]? {
    let count = text.count
    guard count.isMultiple(of: 4) else { return nil }
    let paddingCount = text.suffix(2).reversed().prefix { $0 == padding }.count
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count / 4 * 3)
    var (bits, bitCount): (UInt32, Int) = (0, 0)
    for digit in text.dropLast(paddingCount) {
      let value = values[Int(digit)]
      guard value < 64 else { return nil }
      bits = bits << 6 | UInt32(value)
      bitCount += 6
      guard bitCount >= 8 else { continue }
      bitCount -= 8
      bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)))
      bits &= 1 << UInt32(bitCount) - 1
    }
    return bits == 0 ? bytes : nil
  }
}
