extension UInt8 {
  /// Whether this is a decimal digit in ASCII.
  @inlinable
  public var isASCIIDigit: Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= self }

  /// Whether this is a letter in ASCII, of either case.
  @inlinable
  public var isASCIILetter: Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= self | 0x20 }

  /// Whether this is a letter or a decimal digit in ASCII.
  @inlinable
  public var isASCIILetterOrDigit: Bool { isASCIILetter || isASCIIDigit }
}
