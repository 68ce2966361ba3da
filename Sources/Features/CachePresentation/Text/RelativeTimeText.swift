internal import CacheDomain

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
