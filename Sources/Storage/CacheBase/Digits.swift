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
  public static func text(_ number: Int, width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }
}

/// Numbers in a fixed number of hexadecimal digits: 16 for a 64-bit type.
public enum Hexadecimal {
  /// The digits of `number`, in lower case.
  @inlinable
  public static func text<Number: FixedWidthInteger & UnsignedInteger>(_ number: Number) -> String {
    text(UInt64(truncatingIfNeeded: number), width: Number.bitWidth / 4)
  }

  @usableFromInline
  static func text(_ number: UInt64, width: Int) -> String {
    String(unsafeUninitializedCapacity: width) { digits in
      for place in 0..<width {
        digits[width - 1 - place] = lowerCaseDigit(UInt8(truncatingIfNeeded: number >> UInt64(4 * place)) & 15)
      }
      return width
    }
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

  /// The digit of `value`, from 0 to 15, in lower case.
  static func lowerCaseDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
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
