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

/// Writes numbers of bytes for people, in powers of 1,024 (IEC 80000-13): "999 B", "1.4 MiB".
public enum ByteCountText {
  private static let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]

  /// The text of `count`, which is not negative: exact below 1,024, otherwise rounded to one digit after the point.
  public static func text(_ count: Int) -> String {
    guard count.magnitude >= 1_024 else { return "\(count) B" }
    var unit: UInt = 1_024
    for (index, name) in units.enumerated() {
      let tenths = rounded(count.magnitude, unit)
      if tenths < 10_240 || index == units.count - 1 { return "\(tenths / 10).\(tenths % 10) \(name)" }
      unit <<= 10
    }
    return "\(count) B"
  }

  /// `count` in tenths of `unit`. The remainder is below 2^60, so ten times the remainder does not overflow.
  private static func rounded(_ count: UInt, _ unit: UInt) -> UInt {
    let (whole, rest) = count.quotientAndRemainder(dividingBy: unit)
    return whole * 10 + (rest * 10 + unit / 2) / unit
  }
}
