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
