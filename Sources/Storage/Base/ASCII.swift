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
