public import CacheBase
internal import FetchVocabulary

/// Writes numbers for people.
public enum NumberText {
  /// `number` with commas between groups of three digits, such as "54,298,476,501".
  public static func text(_ number: Int) -> String {
    // From the last digit to the first, then reversed in place: only an array becomes a string quickly.
    var bytes: [UInt8] = []
    var rest = number.magnitude
    repeat {
      if bytes.count % 4 == 3 { bytes.append(UInt8(ascii: ",")) }
      bytes.append(UInt8(ascii: "0") + UInt8(rest % 10))
      rest /= 10
    } while rest > 0
    if number < 0 { bytes.append(UInt8(ascii: "-")) }
    bytes.reverse()
    return String(decoding: bytes, as: UTF8.self)
  }

  /// A whole amount of US dollars, such as "$54,298,476,501" or "-$12".
  public static func dollars(_ amount: Int) -> String {
    let text = text(amount)
    return amount < 0 ? "-$" + text.dropFirst() : "$" + text
  }

  /// `count` and its noun, such as "1 city" or "6,057 cities".
  public static func count(_ count: Int, _ singular: String, _ plural: String) -> String {
    "\(text(count)) \(count == 1 ? singular : plural)"
  }

  /// `number`, not negative, with `places` digits (0 to 6) after the point, rounded; "-" if it is infinite, not a
  /// number, or too large for that.
  public static func decimal(_ number: Double, places: Int) -> String {
    var scale = 1
    for _ in 0..<places { scale *= 10 }
    guard let scaled = Int(exactly: (number * Double(scale)).rounded()) else { return "-" }
    guard places > 0 else { return text(scaled) }
    return "\(text(scaled / scale)).\(Digits.text(scaled % scale, width: places))"
  }
}

/// Writes numbers of bytes for people, in powers of 1,024 (IEC 80000-13): "999 B", "1.4 MiB".
public enum ByteCountText {
  private static let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]

  /// The text of `count`, which is not negative: exact below 1,024, otherwise rounded to one digit after the point.
  public static func text(_ count: Int) -> String {
    guard count.magnitude >= 1_024 else { return "\(count) B" }
    var unit: UInt = 1_024
    for (index, name) in units.enumerated() {
      let tenths = rounded(count.magnitude, unit)
      if tenths < 10_240 || index == units.count - 1 { return "\(tenths / 10).\(tenths % 10) \(name)" }
      unit <<= 10
    }
    return "\(count) B"
  }

  /// `count` in tenths of `unit`. The remainder is below 2^60, so ten times the remainder does not overflow.
  private static func rounded(_ count: UInt, _ unit: UInt) -> UInt {
    let (whole, rest) = count.quotientAndRemainder(dividingBy: unit)
    return whole * 10 + (rest * 10 + unit / 2) / unit
  }
}

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
    let seconds = abs(duration / .seconds(1))
    let unit = units.first { (seconds / $0.seconds).rounded() < $0.limit } ?? units[0]
    return NumberText.count(Int((seconds / unit.seconds).rounded()), unit.singular, unit.plural)
  }

  /// The same in few characters, for columns: "12s", "3m", "2h", "5d", "3mo", "2y".
  public static func short(_ duration: Duration) -> String {
    let words = rough(duration).split(separator: " ")
    let unit = ["min": "m", "day": "d", "days": "d", "month": "mo", "months": "mo", "year": "y", "years": "y"]
    return "\(words[0])\(unit[String(words[1])] ?? String(words[1]))"
  }

  /// The duration as on a stopwatch: "0:42", "12:05", "1:02:03". The sign is dropped.
  public static func clock(_ duration: Duration) -> String {
    let seconds = Int(duration.components.seconds.magnitude)
    let tail = ":\(twoDigits(seconds % 60))"
    guard seconds >= 3_600 else { return "\(seconds / 60)\(tail)" }
    return "\(seconds / 3_600):\(twoDigits(seconds / 60 % 60))\(tail)"
  }

  private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

  /// The units, each with its length in seconds and the count below which it is used.
  private static let units: [(seconds: Double, limit: Double, singular: String, plural: String)] = [
    (1, 60, "s", "s"), (60, 60, "min", "min"), (3_600, 48, "h", "h"), (86_400, 60, "day", "days"),
    (2_629_800, 24, "month", "months"), (31_557_600, .infinity, "year", "years"),
  ]
}

/// Writes comma-separated values (RFC 4180): a header, lines that end in CR LF, and quotes around cells that require
/// them.
///
/// A field that begins with "=", "+", "-" or "@" is not altered: the text is data for programs, and a change would help
/// only spreadsheets.
public enum CSVText {
  /// The lines of `rows`, each with its line end.
  public static func text(_ rows: [[String]]) -> String {
    var text = ""
    for row in rows { append(row, to: &text) }
    return text
  }

  /// The field for `value`: empty for `null`, the text of a string, the strings of an array joined by `separator`, and JSON
  /// for all other values.
  public static func field(_ value: JSONValue, separator: String = "; ") -> String {
    switch value {
    case .null: ""
    case .string(let text): text
    case .array(let elements): joined(elements, separator) ?? JSONText.text(value)
    default: JSONText.text(value)
    }
  }

  private static func joined(_ elements: [JSONValue], _ separator: String) -> String? {
    var texts: [String] = []
    for element in elements {
      guard case .string(let text) = element else { return nil }
      texts.append(text)
    }
    return texts.joined(separator: separator)
  }

  private static func append(_ row: [String], to text: inout String) {
    for (index, field) in row.enumerated() {
      if index > 0 { text += "," }
      // An empty field alone on its line is quoted too, because many readers skip empty lines.
      text += field.utf8.contains(where: isSpecial) || row == [""] ? quoted(field) : field
    }
    text += "\r\n"
  }

  private static func quoted(_ field: String) -> String {
    var text: [UInt8] = [UInt8(ascii: "\"")]
    for byte in field.utf8 {
      if byte == UInt8(ascii: "\"") { text.append(byte) }
      text.append(byte)
    }
    return String(decoding: text + [UInt8(ascii: "\"")], as: UTF8.self)
  }

  private static func isSpecial(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: ","), UInt8(ascii: "\""), UInt8(ascii: "\r"), UInt8(ascii: "\n"): true
    default: false
    }
  }
}
