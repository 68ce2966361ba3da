/// Base64 text (RFC 4648, section 4), with padding and without line breaks.
public enum Base64 {
  private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let padding = UInt8(ascii: "=")

  /// The value of each digit; 64 for other bytes.
  private static let values: [UInt8] = {
    var values = [UInt8](repeating: 64, count: 256)
    for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(value) }
    return values
  }()

  /// Encodes `bytes`. Cost: one pass.
  ///
  /// Both directions use plain memory, because slices made builds without optimization very slow. There is always room for
  /// a byte: without any, the standard library writes the count of 0 into the empty array that all threads share, which the
  /// thread sanitizer reports.
  public static func encoded(_ bytes: [UInt8]) -> [UInt8] {
    let size = (bytes.count + 2) / 3 * 4
    return bytes.withUnsafeBufferPointer { bytes in
      digits.withUnsafeBufferPointer { digits in
        [UInt8](unsafeUninitializedCapacity: max(size, 1)) { text, count in
          var (bits, bitCount): (UInt32, UInt32) = (0, 0)
          for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            bitCount += 8
            while bitCount >= 6 {
              bitCount -= 6
              text[count] = digits[Int(bits >> bitCount & 63)]
              count += 1
            }
          }
          if bitCount > 0 {
            text[count] = digits[Int(bits << (6 - bitCount) & 63)]
            count += 1
          }
          while count < size {
            text[count] = padding
            count += 1
          }
        }
      }
    }
  }

  /// Decodes `text`; `nil` if it is not made of whole groups of four digits, with padding only in the last one and no
  /// unused bits set. Cost: one pass.
  public static func decoded(_ text: [UInt8]) -> [UInt8]? {
    guard text.count.isMultiple(of: 4) else { return nil }
    let paddingCount = text.last != padding ? 0 : text[text.count - 2] != padding ? 1 : 2
    let digitCount = text.count - paddingCount
    var isValid = true
    let bytes = text.withUnsafeBufferPointer { text in
      values.withUnsafeBufferPointer { values in
        [UInt8](unsafeUninitializedCapacity: max(text.count / 4 * 3, 1)) { bytes, count in
          var (bits, bitCount, place): (UInt32, UInt32, Int) = (0, 0, 0)
          while place < digitCount, isValid {
            let value = values[Int(text[place])]
            isValid = value < 64
            bits = bits << 6 | UInt32(value & 63)
            bitCount += 6
            place += 1
            guard bitCount >= 8 else { continue }
            bitCount -= 8
            bytes[count] = UInt8(bits >> bitCount)
            count += 1
            bits &= 1 << bitCount - 1
          }
          isValid = isValid && bits == 0
        }
      }
    }
    return isValid ? bytes : nil
  }
}
