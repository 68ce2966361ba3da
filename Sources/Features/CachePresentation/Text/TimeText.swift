public import Base
internal import FetchVocabulary

/// Writes points in time in the format of RFC 3339, in UTC. `RFC3339Text.time(_:)` reads them.
public enum RFC3339Text {
  /// The last instant that can be written, 9999-12-31T23:59:59.999Z, since 1970-01-01T00:00:00Z.
  public static let latest = Duration.milliseconds(RFC3339.latest)

  /// The time `sinceEpoch` after 1970-01-01T00:00:00Z, such as "2026-03-01T12:00:00Z" or "2026-03-01T12:00:00.250Z".
  ///
  /// Milliseconds appear unless they are zero; smaller fractions are dropped. A time before 1970 or after the year 9999
  /// becomes the nearest time that can be written.
  public static func text(_ sinceEpoch: Duration) -> String {
    let text = RFC3339.text(min(max(sinceEpoch.wholeMilliseconds, 0), RFC3339.latest))
    return text.hasSuffix(".000Z") ? text.dropLast(5) + "Z" : text
  }
}

extension JSONValue {
  /// The string with the RFC 3339 text of the time `sinceEpoch` after 1970-01-01T00:00:00Z; `null` for none.
  public init(time sinceEpoch: Duration?) { self.init(sinceEpoch.map(RFC3339Text.text)) }
}

/// Writes points in time relative to now: "3 min ago", "in 2 h", "just now"; the last possible time is "never".
public enum RelativeTimeText {
  /// A time span too short for a number.
  private static let instant = Duration.seconds(2)

  /// The time `time` relative to `now`, both since the same moment.
  public static func text(_ time: Duration, now: Duration) -> String {
    if time >= RFC3339Text.latest { return "never" }
    return time <= now ? past(age: now - time) : future(after: time - now)
  }

  /// The time of a past event, both since the same moment: "in the future" if the clock was set back since.
  package static func past(_ time: Duration, now: Duration) -> String {
    past(age: EntryAge(storedAt: time, freshUntil: time, now: now)?.sinceStored)
  }

  /// A time `age` ago: "just now" below 2 s, "in the future" if the age is unknown because the clock was set back.
  public static func past(age: Duration?) -> String {
    guard let age else { return "in the future" }
    return age < instant ? "just now" : "\(ElapsedTimeText.rough(age)) ago"
  }

  private static func future(after delay: Duration) -> String {
    delay < instant ? "just now" : "in \(ElapsedTimeText.rough(delay))"
  }
}

/// Writes durations for people.
public enum ElapsedTimeText {
  /// The duration in its most fitting unit, rounded to the nearest: "12 s", "3 min", "2 h", "5 days", "3 months", "2
  /// years".
  ///
  /// A month counts as a twelfth of a year, and a year as 365.25 days. The sign is dropped.
  public static func rough(_ duration: Duration) -> String {
    let seconds = seconds(duration)
    for step in steps {
      let amount = (seconds / step.seconds).rounded()
      if amount < step.limit { return step.text(amount) }
    }
    return years.text((seconds / years.seconds).rounded())
  }

  /// The duration as on a stopwatch: "0:42", "12:05", "1:02:03". The sign is dropped.
  public static func clock(_ duration: Duration) -> String {
    let seconds = Int(duration.components.seconds.magnitude)
    let tail = ":\(twoDigits(seconds % 60))"
    guard seconds >= 3_600 else { return "\(seconds / 60)\(tail)" }
    return "\(seconds / 3_600):\(twoDigits(seconds / 60 % 60))\(tail)"
  }

  private static func seconds(_ duration: Duration) -> Double {
    let (seconds, attoseconds) = duration.components
    return abs(Double(seconds) + Double(attoseconds) / 1e18)
  }

  private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

  /// A unit, and the count below which it is used.
  private struct Step {
    let seconds: Double
    let limit: Double
    let singular: String
    let plural: String

    func text(_ amount: Double) -> String { NumberText.count(Int(amount), singular, plural) }
  }

  private static let steps = [
    Step(seconds: 1, limit: 60, singular: "s", plural: "s"),
    Step(seconds: 60, limit: 60, singular: "min", plural: "min"),
    Step(seconds: 3_600, limit: 48, singular: "h", plural: "h"),
    Step(seconds: 86_400, limit: 60, singular: "day", plural: "days"),
    Step(seconds: 2_629_800, limit: 24, singular: "month", plural: "months"),
  ]
  private static let years = Step(seconds: 31_557_600, limit: .infinity, singular: "year", plural: "years")
}
