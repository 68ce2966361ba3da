/// Dates in HTTP (RFC 9110, section 5.6.7), as durations since 1970-01-01T00:00:00Z.
public enum HTTPDate {
  private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
  private static let days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]

  /// Parses `text` in any of the three date formats, ignoring case and the day of the week. `nil` for anything else,
  /// and for a time that does not exist. Text that only resembles a date is not accepted: a malformed `Expires` must
  /// count as past (RFC 9111, section 5.3).
  ///
  /// - Parameters:
  ///   - text: the value of a field.
  ///   - now: the current time. A two-digit year means the latest such year that is at most 50 years in the future.
  public static func time(_ text: String, now: Duration) -> Duration? {
    let words = text.lowercased().split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    return fixdate(words) ?? rfc850(words, now: now) ?? asctime(words)
  }

  /// Formats `time` in the current format: `Sun, 06 Nov 1994 08:49:37 GMT`.
  public static func text(_ time: Duration) -> String {
    let seconds = time.components.seconds
    let (dayNumber, second) = (seconds.flooredQuotient(86_400), seconds.flooredRemainder(86_400))
    let (year, month, day) = civil(dayNumber)
    let weekday = days[Int((dayNumber + 4).flooredRemainder(7))].prefix(3)
    let name = months[Int(month) - 1]
    let clock = [second / 3_600, second / 60 % 60, second % 60].map { padded($0, 2) }.joined(separator: ":")
    return
      "\(weekday), \(padded(day, 2)) \(name.prefix(1).uppercased())\(name.dropFirst()) \(padded(year, 4)) \(clock) GMT"
  }

  /// `sun, 06 nov 1994 08:49:37 gmt`
  private static func fixdate(_ words: [String]) -> Duration? {
    guard words.count == 6, isDay(words[0], length: 3, suffix: ","), words[5] == "gmt" else { return nil }
    return time(year: number(words[3], 4), month: words[2], day: number(words[1], 2), clock: words[4])
  }

  /// `sunday, 06-nov-94 08:49:37 gmt`
  private static func rfc850(_ words: [String], now: Duration) -> Duration? {
    guard words.count == 4, isDay(words[0], suffix: ","), words[3] == "gmt" else { return nil }
    let date = words[1].split(separator: "-", omittingEmptySubsequences: false).map(String.init)
    guard date.count == 3, let year = number(date[2], 2) else { return nil }
    return time(year: fullYear(year, now: now), month: date[1], day: number(date[0], 2), clock: words[2])
  }

  /// `sun nov  6 08:49:37 1994`
  private static func asctime(_ words: [String]) -> Duration? {
    let isPadded = words.count == 6 && words[2].isEmpty
    guard words.count == 5 || isPadded, isDay(words[0], length: 3) else { return nil }
    let day = isPadded ? number(words[3], 1) : number(words[2], 2)
    let rest = words.suffix(2).map(\.self)
    return time(year: number(rest[1], 4), month: words[1], day: day, clock: rest[0])
  }

  private static func isDay(_ word: String, length: Int = .max, suffix: String = "") -> Bool {
    days.contains { $0.lowercased().prefix(length) + suffix == word }
  }

  private static func time(year: Int64?, month monthText: String, day: Int64?, clock: String) -> Duration? {
    guard let index = months.firstIndex(of: monthText), let year, let day, let second = secondOfDay(clock) else {
      return nil
    }
    let month = Int64(index) + 1
    let dayNumber = daysFromCivil(year, month, day)
    guard day >= 1, civil(dayNumber) == (year, month, day) else { return nil }
    return .seconds(dayNumber * 86_400 + second)
  }

  private static func secondOfDay(_ clock: String) -> Int64? {
    let parts = clock.split(separator: ":", omittingEmptySubsequences: false).map { number(String($0), 2) }
    guard parts.count == 3, let hour = parts[0], let minute = parts[1], let second = parts[2] else { return nil }
    // Accept a leap second.
    return hour < 24 && minute < 60 && second <= 60 ? hour * 3_600 + minute * 60 + second : nil
  }

  private static func fullYear(_ short: Int64, now: Duration) -> Int64 {
    let last = civil(now.components.seconds.flooredQuotient(86_400)).0 + 50
    return last - (last - short).flooredRemainder(100)
  }

  private static func number(_ text: String, _ length: Int) -> Int64? {
    guard text.utf8.count == length, text.utf8.allSatisfy({ $0 >= 48 && $0 <= 57 }) else { return nil }
    return Int64(text)
  }

  private static func padded(_ number: Int64, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(width - digits.count, 0)) + digits
  }

  /// The number of days since 1970-01-01, by the method of Howard Hinnant's "chrono-compatible low-level date
  /// algorithms".
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
