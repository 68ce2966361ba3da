internal import Base

/// A number of seconds in a header field (RFC 9111, section 1.2.2).
package enum DeltaSeconds {
  /// Replaces any larger number, as the RFC says: 2^31 seconds, about 68 years.
  static let greatest: Int64 = 2_147_483_648

  /// The duration that `text` writes: ASCII digits and nothing else; `nil` if it is anything else.
  package static func duration(_ text: some StringProtocol) -> Duration? {
    let digits = text.utf8
    guard !digits.isEmpty, digits.allSatisfy(\.isASCIIDigit) else { return nil }
    // A number with too many digits for an integer is still a large number.
    return .seconds(min(Int64(text) ?? greatest, greatest))
  }
}
