/// Writes points in time in the format of RFC 3339, in UTC. `RFC3339Text.time(_:)` reads them.
public enum RFC3339Text {
  /// The last instant that can be written, 9999-12-31T23:59:59.999Z, since 1970-01-01T00:00:00Z.
  public static let latest = Duration.milliseconds(253_402_300_799_999)

  /// The time `sinceEpoch` after 1970-01-01T00:00:00Z, such as "2026-03-01T12:00:00Z" or "2026-03-01T12:00:00.250Z".
  ///
  /// Milliseconds appear unless they are zero; smaller fractions are dropped. A time before 1970 or after the year 9999
  /// becomes the nearest time that can be written.
  public static func text(_ sinceEpoch: Duration) -> String {
    let (total, attoseconds) = min(max(sinceEpoch, .zero), latest).components
    let (days, second) = Int(total).quotientAndRemainder(dividingBy: 86_400)
    let date = CivilDate(days: days)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(24)
    append(date.year, 4, then: "-", to: &bytes)
    append(date.month, 2, then: "-", to: &bytes)
    append(date.day, 2, then: "T", to: &bytes)
    append(second / 3_600, 2, then: ":", to: &bytes)
    append(second / 60 % 60, 2, then: ":", to: &bytes)
    let milliseconds = Int(attoseconds / 1_000_000_000_000_000)
    append(second % 60, 2, then: milliseconds == 0 ? "Z" : ".", to: &bytes)
    if milliseconds != 0 { append(milliseconds, 3, then: "Z", to: &bytes) }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func append(_ number: Int, _ width: Int, then end: Unicode.Scalar, to bytes: inout [UInt8]) {
    var divisor = width == 4 ? 1_000 : width == 3 ? 100 : 10
    while divisor > 0 {
      bytes.append(UInt8(ascii: "0") + UInt8(number / divisor % 10))
      divisor /= 10
    }
    bytes.append(UInt8(ascii: end))
  }
}
