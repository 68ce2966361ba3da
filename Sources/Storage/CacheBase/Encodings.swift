/// Whole numbers in decimal digits only: no sign, no space, no separator.
public enum Digits {
  /// The number that `text` writes, or the largest `Int` if it is larger; `nil` if `text` is empty or has any other
  /// character.
  @inlinable
  public static func number(_ text: some StringProtocol) -> Int? {
    guard !text.isEmpty, text.utf8.allSatisfy(\.isASCIIDigit) else { return nil }
    return Int(text) ?? .max
  }

  /// `number`, which must not be negative, padded with zeros to at least `width` digits.
  public static func text(_ number: Int, width: Int) -> String { padded(String(number), to: width) }

  @usableFromInline
  static func padded(_ digits: String, to width: Int) -> String {
    String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }
}

/// Numbers in a fixed number of hexadecimal digits: 16 for a 64-bit type.
public enum Hexadecimal {
  /// The digits of `number`, in lower case.
  @inlinable
  public static func text<Number: FixedWidthInteger & UnsignedInteger>(_ number: Number) -> String {
    Digits.padded(String(number, radix: 16), to: Number.bitWidth / 4)
  }

  /// The number that `digits` write, in either case; `nil` if their number is wrong, or there are other characters.
  @inlinable
  public static func number<Number: FixedWidthInteger & UnsignedInteger>(
    _ digits: some Collection<UInt8>, as type: Number.Type = Number.self
  ) -> Number? {
    guard digits.count == Number.bitWidth / 4 else { return nil }
    var number: Number = 0
    for byte in digits {
      guard let digit = digit(byte) else { return nil }
      number = number << 4 | Number(digit)
    }
    return number
  }

  /// The value of the digit `byte`, in either case; `nil` if it is not a hexadecimal digit.
  @inlinable
  public static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  /// The digit of `value`, from 0 to 15, in upper case.
  static func upperCaseDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
  }
}

extension UInt8 {
  /// Whether this is an ASCII decimal digit.
  @inlinable
  public var isASCIIDigit: Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= self }

  /// Whether this is an ASCII letter, in either case.
  @inlinable
  public var isASCIILetter: Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= self | 0x20 }

  /// Whether this is an ASCII letter or decimal digit.
  @inlinable
  public var isASCIILetterOrDigit: Bool { isASCIILetter || isASCIIDigit }
}

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

/// Percent-encoding (RFC 3986, section 2): writes a byte that must not occur in a part of a URL or key as `%XX`, with
/// uppercase digits.
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

  private static func isAllowedInPath(_ byte: UInt8) -> Bool {
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
  package static func text(_ text: String) -> String { Self.text(Array(text.utf8)) }

  /// `bytes` as text, with every byte encoded except unreserved characters.
  package static func text(_ bytes: [UInt8]) -> String { encoded(bytes, keeping: isUnreserved) }

  /// Encodes `text` as a path, and keeps its slashes.
  package static func path(_ text: String) -> String { encoded(Array(text.utf8), keeping: isAllowedInPath) }

  /// `bytes` as text, with those encoded that are not ASCII.
  package static func ascii(_ bytes: [UInt8]) -> String { encoded(bytes) { $0 < 0x80 } }

  /// Encodes the characters of `text`, an already encoded path or query, that must not occur there.
  package static func completed(_ text: Substring, isQuery: Bool) -> String {
    encoded(Array(text.utf8), areCodesKept: true) { isAllowedInPath($0) || isQuery && $0 == UInt8(ascii: "?") }
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

  private static func encoded(
    _ text: [UInt8], areCodesKept: Bool = false, keeping isKept: (UInt8) -> Bool
  ) -> String {
    if text.allSatisfy(isKept) { return String(decoding: text, as: UTF8.self) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(2 * text.count)
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
