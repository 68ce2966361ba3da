/// Times in the format of RFC 3339, always in UTC and with milliseconds: "2026-01-31T08:09:10.123Z". A time is the
/// number of milliseconds since 1970-01-01T00:00:00Z, without leap seconds.
package enum RFC3339 {
  /// The last time that this format can write, 9999-12-31T23:59:59.999Z.
  package static let latest: Int64 = 253_402_300_799_999

  private static let millisecondsPerDay: Int64 = 86_400_000

  /// Formats `time`, which must be from 0 to `latest`.
  package static func text(_ time: Int64) -> String {
    let (days, rest) = time.quotientAndRemainder(dividingBy: millisecondsPerDay)
    let date = CivilDate(days: Int(days))
    let milliseconds = Int(rest)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(24)
    append(date.year, 4, then: "-", to: &bytes)
    append(date.month, 2, then: "-", to: &bytes)
    append(date.day, 2, then: "T", to: &bytes)
    append(milliseconds / 3_600_000, 2, then: ":", to: &bytes)
    append(milliseconds / 60_000 % 60, 2, then: ":", to: &bytes)
    append(milliseconds / 1_000 % 60, 2, then: ".", to: &bytes)
    append(milliseconds % 1_000, 3, then: "Z", to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Parses `text`; `nil` if it is not exactly what `text(_:)` writes.
  package static func time(_ text: String) -> Int64? {
    let bytes = Array(text.utf8)
    guard bytes.count == 24 else { return nil }
    func number(_ range: Range<Int>) -> Int {
      bytes[range].reduce(0) { $0 * 10 + Int($1) - Int(UInt8(ascii: "0")) }
    }
    guard let date = CivilDate(year: number(0..<4), month: number(5..<7), day: number(8..<10)) else { return nil }
    let minutes = number(11..<13) * 60 + number(14..<16)
    let milliseconds = (minutes * 60 + number(17..<19)) * 1_000 + number(20..<23)
    let time = Int64(date.days) * millisecondsPerDay + Int64(milliseconds)
    // Writing the time again reveals wrong characters, and hours and minutes that do not exist.
    return (0...latest).contains(time) && self.text(time).utf8.elementsEqual(bytes) ? time : nil
  }

  /// Appends `number` in `width` digits, and `end`.
  private static func append(_ number: Int, _ width: Int, then end: Unicode.Scalar, to bytes: inout [UInt8]) {
    var divisor = width == 4 ? 1_000 : width == 3 ? 100 : 10
    while divisor > 0 {
      bytes.append(UInt8(ascii: "0") + UInt8(number / divisor % 10))
      divisor /= 10
    }
    bytes.append(UInt8(ascii: end))
  }
}
