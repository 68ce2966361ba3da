/// A day of the Gregorian calendar.
///
/// The conversions follow Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms"
/// (https://howardhinnant.github.io/date_algorithms.html, `days_from_civil` and `civil_from_days`): years begin in
/// March, so that the leap day comes last, in eras of 400 years of 146,097 days each.
struct CivilDate: Hashable {
  /// The year.
  let year: Int
  /// The month, from 1 to 12.
  let month: Int
  /// The day of the month, from 1.
  let day: Int

  /// The days from 0000-03-01 to 1970-01-01.
  private static let epoch = 719_468

  /// The day with that year, month and day of the month. The day need not exist.
  init(year: Int, month: Int, day: Int) {
    self.year = year
    self.month = month
    self.day = day
  }

  /// The day `days` (not negative) after 1970-01-01.
  init(days: Int) {
    let (era, dayOfEra) = (days + Self.epoch).quotientAndRemainder(dividingBy: 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    self.init(
      year: yearOfEra + 400 * era + (month <= 2 ? 1 : 0), month: month,
      day: dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
  }

  /// How many days after 1970-01-01 this is; negative before. The year must not be before 1.
  var days: Int {
    let yearFromMarch = month <= 2 ? year - 1 : year
    let (era, yearOfEra) = yearFromMarch.quotientAndRemainder(dividingBy: 400)
    let monthFromMarch = month > 2 ? month - 3 : month + 9
    let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
    return era * 146_097 + 365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - Self.epoch
  }

  /// The number of days of `month` (from 1 to 12) in `year`.
  static func daysInMonth(_ month: Int, year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}
