/// A number of seconds as header fields write it (RFC 9111, section 1.2.2).
enum DeltaSeconds {
  /// What is taken for any greater number, as the RFC has it: 2^31 seconds, some 68 years.
  static let greatest: Int64 = 2_147_483_648

  /// The duration that `text` writes: ASCII digits and nothing else; `nil` where it is anything else.
  static func duration(_ text: some StringProtocol) -> Duration? {
    let digits = text.utf8
    guard !digits.isEmpty, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
      return nil
    }
    // Too many digits for any integer are still a great number.
    return .seconds(min(Int64(text) ?? greatest, greatest))
  }
}
