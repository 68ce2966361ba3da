/// Dates as HTTP writes them (RFC 9110, section 5.6.7), as durations since 1970-01-01T00:00:00Z.
public enum HTTPDate {
  private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
  private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]

  /// The time that `text` names in any of the three forms, whatever the day of the week it claims; `nil` where it is
  /// none of them, or no time that exists.
  ///
  /// - Parameters:
  ///   - text: the value of a field.
  ///   - now: the present time. A year of two digits is that of the century which makes it at most 50 years later.
  public static func time(_ text: String, now: Duration) -> Duration? {
    let words = text.lowercased().split(whereSeparator: { " -,".contains($0) }).map(String.init)
    let isAsctime = !text.contains(",") && words.count == 5
    if isAsctime {
      return time(year: words[4], month: words[1], day: words[2], clock: words[3], now: now)
    }
    guard words.count == 6, words[5] == "gmt", text.contains(",") else { return nil }
    return time(year: words[3], month: words[2], day: words[1], clock: words[4], now: now)
  }

  /// `time` in the form of today: `Sun, 06 Nov 1994 08:49:37 GMT`.
  public static func text(_ time: Duration) -> String {
    let seconds = time.components.seconds
    let (dayNumber, second) = (seconds.flooredQuotient(86_400), seconds.flooredRemainder(86_400))
    let (year, month, day) = civil(dayNumber)
    let weekday = days[Int((dayNumber + 4).flooredRemainder(7))]
    let lowercased = months[Int(month) - 1]
    let name = lowercased.prefix(1).uppercased() + lowercased.dropFirst()
    let clock = [second / 3_600, second / 60 % 60, second % 60].map { padded($0, 2) }.joined(separator: ":")
    return
      "\(weekday), \(padded(day, 2)) \(name) \(padded(year, 4)) \(clock) GMT"
  }

  private static func time(
    year yearText: String, month monthText: String, day dayText: String, clock: String, now: Duration
  ) -> Duration? {
    guard let month = months.firstIndex(of: monthText), let day = number(dayText, 1...2),
      let second = secondOfDay(clock), let year = fullYear(yearText, now: now)
    else { return nil }
    let dayNumber = daysFromCivil(year, Int64(month) + 1, day)
    guard day >= 1, civil(dayNumber) == (year, Int64(month) + 1, day) else { return nil }
    return .seconds(dayNumber * 86_400 + second)
  }

  private static func secondOfDay(_ clock: String) -> Int64? {
    let parts = clock.split(separator: ":", omittingEmptySubsequences: false).map { number(String($0), 2...2) }
    guard parts.count == 3, let hour = parts[0], let minute = parts[1], let second = parts[2] else { return nil }
    // A leap second may be written.
    return hour < 24 && minute < 60 && second <= 60 ? hour * 3_600 + minute * 60 + second : nil
  }

  private static func fullYear(_ text: String, now: Duration) -> Int64? {
    if text.utf8.count == 4 { return number(text, 4...4) }
    guard let short = number(text, 2...2) else { return nil }
    let thisYear = civil(now.components.seconds.flooredQuotient(86_400)).0
    let year = thisYear - thisYear % 100 + short
    return year > thisYear + 50 ? year - 100 : year
  }

  private static func number(_ text: String, _ lengths: ClosedRange<Int>) -> Int64? {
    guard lengths.contains(text.utf8.count), text.utf8.allSatisfy({ $0 >= 48 && $0 <= 57 }) else { return nil }
    return Int64(text)
  }

  private static func padded(_ number: Int64, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(width - digits.count, 0)) + digits
  }

  /// The number of days from 1970-01-01, by the method of Howard Hinnant's "chrono-compatible low-level date algorithms".
  private static func daysFromCivil(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let shifted = month <= 2 ? year - 1 : year
    let era = shifted.flooredQuotient(400)
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  /// The inverse of `daysFromCivil`.
  private static func civil(_ days: Int64) -> (Int64, Int64, Int64) {
    let shifted = days + 719_468
    let era = shifted.flooredQuotient(146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }
}

extension Int64 {
  fileprivate func flooredQuotient(_ divisor: Int64) -> Int64 {
    self / divisor - (self % divisor < 0 ? 1 : 0)
  }

  fileprivate func flooredRemainder(_ divisor: Int64) -> Int64 {
    self - flooredQuotient(divisor) * divisor
  }
}
