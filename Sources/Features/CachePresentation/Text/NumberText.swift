internal import Base

/// Writes numbers for people.
public enum NumberText {
  /// `number` with commas between groups of three digits, such as "54,298,476,501".
  public static func text(_ number: Int) -> String {
    // From the last digit to the first, then reversed in place: only an array becomes a string quickly.
    var bytes: [UInt8] = []
    var rest = number.magnitude
    repeat {
      if bytes.count % 4 == 3 { bytes.append(UInt8(ascii: ",")) }
      bytes.append(UInt8(ascii: "0") + UInt8(rest % 10))
      rest /= 10
    } while rest > 0
    if number < 0 { bytes.append(UInt8(ascii: "-")) }
    bytes.reverse()
    return String(decoding: bytes, as: UTF8.self)
  }

  /// A whole amount of US dollars, such as "$54,298,476,501" or "-$12".
  public static func dollars(_ amount: Int) -> String {
    let text = text(amount)
    return amount < 0 ? "-$" + text.dropFirst() : "$" + text
  }

  /// `count` and its noun, such as "1 city" or "6,057 cities".
  public static func count(_ count: Int, _ singular: String, _ plural: String) -> String {
    "\(text(count)) \(count == 1 ? singular : plural)"
  }

  /// `number`, not negative, with `places` digits (0 to 6) after the point, rounded; "-" if it is infinite, not a
  /// number, or too large for that.
  public static func decimal(_ number: Double, places: Int) -> String {
    var scale = 1
    for _ in 0..<places { scale *= 10 }
    guard let scaled = Int(exactly: (number * Double(scale)).rounded()) else { return "-" }
    guard places > 0 else { return text(scaled) }
    return "\(text(scaled / scale)).\(Digits.text(scaled % scale, width: places))"
  }
}
