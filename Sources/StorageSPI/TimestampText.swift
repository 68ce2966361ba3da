extension Timestamp {
  private static let millisecondsPerDay: Int64 = 86_400_000

  /// The time in RFC 3339 format, in UTC with milliseconds: "2026-01-31T08:09:10.123Z".
  public var text: String {
    let (days, rest) = milliseconds.quotientAndRemainder(dividingBy: Self.millisecondsPerDay)
    let (year, month, day) = Self.date(ofDay: days)
    let (hour, minute, second) = (rest / 3_600_000, rest / 60_000 % 60, rest / 1_000 % 60)
    return Self.padded(year, 4) + "-" + Self.padded(month, 2) + "-" + Self.padded(day, 2) + "T"
      + Self.padded(hour, 2) + ":" + Self.padded(minute, 2) + ":" + Self.padded(second, 2) + "."
      + Self.padded(rest % 1_000, 3) + "Z"
  }

  /// Parses `text`, which must have exactly the form that `text` produces.
  public init?(text: String) {
    let bytes = Array(text.utf8)
    guard bytes.count == 24 else { return nil }
    func number(_ range: Range<Int>) -> Int64 {
      bytes[range].reduce(0) { $0 * 10 + Int64($1) - Int64(UInt8(ascii: "0")) }
    }
    let days = Self.day(ofYear: number(0..<4), month: number(5..<7), day: number(8..<10))
    let minutes = number(11..<13) * 60 + number(14..<16)
    let time = (minutes * 60 + number(17..<19)) * 1_000 + number(20..<23)
    self.init(milliseconds: days * Self.millisecondsPerDay + time)
    // Invalid dates, such as February 30, do not survive the round trip.
    guard self.text.utf8.elementsEqual(bytes) else { return nil }
  }

  /// The proleptic Gregorian date of a day number counted from 1970-01-01; the number must not be negative.
  ///
  /// Years start in March, so that the leap day comes last, in eras of 400 years or 146,097 days: see Howard Hinnant,
  /// "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`.
  private static func date(ofDay days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let (era, dayOfEra) = (days + 719_468).quotientAndRemainder(dividingBy: 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    let month = shifted < 10 ? shifted + 3 : shifted - 9
    return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
  }

  /// The inverse of `date(ofDay:)`, `days_from_civil` in the same source. For a date that does not exist it returns
  /// some day.
  private static func day(ofYear year: Int64, month: Int64, day: Int64) -> Int64 {
    let (era, yearOfEra) = (month <= 2 ? year - 1 : year).quotientAndRemainder(dividingBy: 400)
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  private static func padded(_ number: Int64, _ digits: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
  }
}
