internal import Base

/// Splits a text like "1h30m" into numbers and their units.
struct QuantityScanner {
  private var rest: Substring.UTF8View

  init(_ text: String) { rest = text[...].utf8 }

  var isAtEnd: Bool { rest.isEmpty }

  /// The next number and its unit; `nil` if a digit or a letter is missing, or the number needs more than 64 bits.
  mutating func next() -> (number: Int64, unit: String)? {
    let digits = rest.prefix(while: \.isASCIIDigit)
    rest = rest[digits.endIndex...]
    let letters = rest.prefix(while: \.isASCIILetter)
    rest = rest[letters.endIndex...]
    guard !letters.isEmpty, let number = Int64(Substring(digits)) else { return nil }
    return (number, String(Substring(letters)))
  }
}
