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
