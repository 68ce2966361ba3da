extension RFC3339Text {
  /// The reason why a text is not a point in time.
  public struct ParseError: Error, Sendable, Hashable {
    /// The text.
    public let text: String
    /// The mistake, in one line without a final full stop.
    public let reason: String

    /// The text and the mistake, in one line.
    public var message: String { "\"\(text)\" is not an RFC 3339 time: \(reason)" }
  }

  /// The time in `text`, since 1970-01-01T00:00:00Z.
  ///
  /// Accepts offsets other than UTC, fractions of any length (digits after the eighteenth are dropped), lower-case
  /// letters, and leap seconds (which count as the next second).
  /// - Throws: `ParseError` if `text` is malformed, names a day or time that does not exist, or is before 1970 or after
  ///   the year 9999.
  public static func time(_ text: String) throws(ParseError) -> Duration {
    var reader = TimeReader(text)
    let date = try reader.date()
    try reader.letter("T")
    let (hour, minute, second) = try reader.clock()
    let fraction = try reader.fraction()
    let offset = try reader.offset()
    try reader.end()
    let minutes = date.days * 1_440 + hour * 60 + minute - offset
    guard second < 60 || minutes.quotientAndRemainder(dividingBy: 1_440).remainder == 1_439 else {
      throw reader.error("second 60 (a leap second) is possible at 23:59 UTC only")
    }
    let time = Duration.seconds(minutes * 60 + second) + fraction
    guard time >= .zero, time < .seconds(253_402_300_800) else {
      throw reader.error("the time is outside the years 1970 to 9999")
    }
    return time
  }
}

/// Reads the parts of a point in time in order.
private struct TimeReader {
  typealias ParseError = RFC3339Text.ParseError

  private let text: String
  private let bytes: [UInt8]
  private var position = 0

  init(_ text: String) {
    self.text = text
    self.bytes = Array(text.utf8)
  }

  func error(_ reason: String) -> ParseError { ParseError(text: text, reason: reason) }

  mutating func date() throws(ParseError) -> CivilDate {
    let year = try number("year", 4, 0...9_999)
    try letter("-")
    let month = try number("month", 2, 1...12)
    try letter("-")
    let day = try number("day", 2, 1...CivilDate.daysInMonth(month, year: year))
    guard year > 0 else { throw error("the time is outside the years 1970 to 9999") }
    return CivilDate(year: year, month: month, day: day)
  }

  mutating func clock() throws(ParseError) -> (hour: Int, minute: Int, second: Int) {
    let hour = try number("hour", 2, 0...23)
    try letter(":")
    let minute = try number("minute", 2, 0...59)
    try letter(":")
    return (hour, minute, try number("second", 2, 0...60))
  }

  mutating func fraction() throws(ParseError) -> Duration {
    guard peek == UInt8(ascii: ".") else { return .zero }
    position += 1
    let start = position
    var attoseconds: Int64 = 0
    var unit: Int64 = 100_000_000_000_000_000
    while let digit = digit(at: position) {
      attoseconds += Int64(digit) * unit
      unit /= 10
      position += 1
    }
    guard position > start else { throw error("a digit is expected at character \(position + 1)") }
    return Duration(secondsComponent: 0, attosecondsComponent: attoseconds)
  }

  /// The offset from UTC in minutes, positive to the east.
  mutating func offset() throws(ParseError) -> Int {
    guard let sign = peek, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else {
      guard peek == UInt8(ascii: "Z") || peek == UInt8(ascii: "z") else {
        throw error("\"Z\" or an offset such as \"+01:00\" is expected at character \(position + 1)")
      }
      position += 1
      return 0
    }
    position += 1
    let hours = try number("offset hour", 2, 0...23)
    try letter(":")
    let minutes = hours * 60 + (try number("offset minute", 2, 0...59))
    return sign == UInt8(ascii: "-") ? -minutes : minutes
  }

  mutating func end() throws(ParseError) {
    guard position == bytes.count else { throw error("nothing may follow character \(position)") }
  }

  /// Skips the ASCII character `letter`, in either case.
  mutating func letter(_ letter: Unicode.Scalar) throws(ParseError) {
    let byte = UInt8(ascii: letter)
    guard let peek, peek == byte || (letter.properties.isAlphabetic && peek == byte | 0x20) else {
      throw error("\"\(letter)\" is expected at character \(position + 1)")
    }
    position += 1
  }

  private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

  private func digit(at position: Int) -> UInt8? {
    guard position < bytes.count, UInt8(ascii: "0")...UInt8(ascii: "9") ~= bytes[position] else { return nil }
    return bytes[position] - UInt8(ascii: "0")
  }

  private mutating func number(
    _ name: String, _ width: Int, _ range: ClosedRange<Int>
  ) throws(ParseError) -> Int {
    var number = 0
    for _ in 0..<width {
      guard let digit = digit(at: position) else {
        throw error("a digit of the \(name) is expected at character \(position + 1)")
      }
      number = number * 10 + Int(digit)
      position += 1
    }
    guard range.contains(number) else {
      throw error("\(name) \(number) is not from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }
}
