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

/// A day of the Gregorian calendar.
///
/// The conversions follow Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms"
/// (https://howardhinnant.github.io/date_algorithms.html, `days_from_civil` and `civil_from_days`): years begin in
/// March, so that the leap day is the last day, and an era has 400 years or 146,097 days.
package struct CivilDate: Sendable, Hashable {
  /// The year; the year before 1 is 0.
  package let year: Int
  /// The month, from 1 to 12.
  package let month: Int
  /// The day of the month, from 1.
  package let day: Int
  /// The number of days since 1970-01-01; negative before that.
  package let days: Int

  /// The days from 0000-03-01 to 1970-01-01.
  private static let epoch = 719_468

  /// The day `days` after 1970-01-01.
  package init(days: Int) {
    let era = (days + Self.epoch).flooredQuotient(146_097)
    let dayOfEra = days + Self.epoch - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    year = yearOfEra + 400 * era + (month <= 2 ? 1 : 0)
    day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    self.days = days
  }

  /// Creates a date; `nil` if there is no such day, such as the 30th of February.
  package init?(year: Int, month: Int, day: Int) {
    guard (1...12).contains(month), (1...31).contains(day) else { return nil }
    let yearFromMarch = month <= 2 ? year - 1 : year
    let era = yearFromMarch.flooredQuotient(400)
    let yearOfEra = yearFromMarch - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    self.init(days: era * 146_097 + 365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - Self.epoch)
    guard self.day == day else { return nil }
  }

  /// The day of the week, from 0 for Sunday to 6.
  package var weekday: Int { days + 4 - (days + 4).flooredQuotient(7) * 7 }
}

extension Int {
  /// The quotient, rounded down; `quotientAndRemainder(dividingBy:)` rounds towards zero. `divisor` must be positive.
  package func flooredQuotient(_ divisor: Int) -> Int { self / divisor - (self % divisor < 0 ? 1 : 0) }
}

extension Duration {
  /// The number of whole milliseconds, limited to the range of `Int64`. Drops fractions.
  package var wholeMilliseconds: Int64 {
    let (seconds, attoseconds) = components
    let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
    let (sum, sumOverflow) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
    return overflow || sumOverflow ? (seconds < 0 ? .min : .max) : sum
  }
}
