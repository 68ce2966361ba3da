internal import CacheBase

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
    let seconds = Int(time.components.seconds)
    let date = date(of: seconds)
    let second = seconds - date.days * 86_400
    let month = months[date.month - 1]
    let clock = [second / 3_600, second / 60 % 60, second % 60].map { Digits.text($0, width: 2) }
    return [
      "\(days[date.weekday].prefix(3)),", Digits.text(date.day, width: 2),
      month.prefix(1).uppercased() + month.dropFirst(), Digits.text(date.year, width: 4),
      clock.joined(separator: ":"), "GMT",
    ].joined(separator: " ")
  }

  /// The day on which the time `seconds` after 1970-01-01T00:00:00Z falls.
  private static func date(of seconds: Int) -> CivilDate { CivilDate(days: seconds.flooredQuotient(86_400)) }

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

  private static func time(year: Int?, month: String, day: Int?, clock: String) -> Duration? {
    guard let index = months.firstIndex(of: month), let year, let day, let second = secondOfDay(clock),
      let date = CivilDate(year: year, month: index + 1, day: day)
    else { return nil }
    return .seconds(date.days * 86_400 + second)
  }

  private static func secondOfDay(_ clock: String) -> Int? {
    let parts = clock.split(separator: ":", omittingEmptySubsequences: false).map { number(String($0), 2) }
    guard parts.count == 3, let hour = parts[0], let minute = parts[1], let second = parts[2] else { return nil }
    // Accept a leap second.
    return hour < 24 && minute < 60 && second <= 60 ? hour * 3_600 + minute * 60 + second : nil
  }

  private static func fullYear(_ short: Int, now: Duration) -> Int {
    let last = date(of: Int(now.components.seconds)).year + 50
    return short + (last - short).flooredQuotient(100) * 100
  }

  private static func number(_ text: String, _ length: Int) -> Int? {
    text.utf8.count == length ? Digits.number(text) : nil
  }
}

extension HTTP.Fields {
  /// The time in the field `name`; `nil` if there is no such field, or it is not a date.
  func time(_ name: String, now: Duration) -> Duration? {
    self[name].flatMap { HTTPDate.time($0, now: now) }
  }
}
