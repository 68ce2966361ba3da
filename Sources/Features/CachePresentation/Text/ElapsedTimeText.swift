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

  /// The duration with about three digits: "850 µs", "12.3 ms", "1.24 s", "2 min 5 s", "1 h 3 min". The sign is
  /// dropped.
  public static func precise(_ duration: Duration) -> String {
    let seconds = seconds(duration)
    switch seconds {
    case ..<0.000_999_5: return "\(NumberText.decimal(seconds * 1e6, places: 0)) µs"
    case ..<0.999_95: return "\(NumberText.decimal(seconds * 1e3, places: 1)) ms"
    case ..<59.995: return "\(NumberText.decimal(seconds, places: 2)) s"
    default: return long(Int(seconds.rounded()))
    }
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

  private static func long(_ seconds: Int) -> String {
    if seconds < 3_600 { return "\(seconds / 60) min \(seconds % 60) s" }
    return "\(NumberText.text(seconds / 3_600)) h \(seconds / 60 % 60) min"
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
