import CachePresentation
import Foundation
import SeededNumbers
import Testing

struct RFC3339TextTests {
  @Test(
    arguments: [
      (.zero, "1970-01-01T00:00:00Z"), (.seconds(951_782_400), "2000-02-29T00:00:00Z"),
      (.seconds(4_107_542_400), "2100-03-01T00:00:00Z"), (.milliseconds(1_772_366_400_250), "2026-03-01T12:00:00.250Z"),
      (.milliseconds(7), "1970-01-01T00:00:00.007Z"), (.nanoseconds(999_999), "1970-01-01T00:00:00Z"),
      (RFC3339Text.latest, "9999-12-31T23:59:59.999Z"), (.seconds(-1), "1970-01-01T00:00:00Z"),
      (.seconds(Int64.max), "9999-12-31T23:59:59.999Z"),
    ] as [(Duration, String)])
  func text(_ time: Duration, _ text: String) {
    #expect(RFC3339Text.text(time) == text)
  }

  @Test(
    arguments: [
      ("2026-03-01T12:00:00Z", .seconds(1_772_366_400)), ("2026-03-01t12:00:00z", .seconds(1_772_366_400)),
      ("2026-03-01T13:30:00+01:30", .seconds(1_772_366_400)), ("2026-02-28T23:00:00-13:00", .seconds(1_772_366_400)),
      ("1970-01-01T00:00:00.5Z", .milliseconds(500)), ("1970-01-01T00:00:00.000000001Z", .nanoseconds(1)),
      ("1970-01-01T00:00:00.0000000000000000019Z", Duration(secondsComponent: 0, attosecondsComponent: 1)),
      ("2016-12-31T23:59:60Z", .seconds(1_483_228_800)), ("2017-01-01T00:59:60+01:00", .seconds(1_483_228_800)),
      ("1969-12-31T23:00:00-01:00", .zero),
    ] as [(String, Duration)])
  func time(_ text: String, _ time: Duration) throws {
    #expect(try RFC3339Text.time(text) == time)
  }

  @Test(arguments: [
    ("", "a digit of the year is expected at character 1"),
    ("2026-3-01T12:00:00Z", "a digit of the month is expected at character 7"),
    ("2026-13-01T12:00:00Z", "month 13 is not from 1 to 12"),
    ("2026-02-29T12:00:00Z", "day 29 is not from 1 to 28"),
    ("2026-03-01 12:00:00Z", "\"T\" is expected at character 11"),
    ("2026-03-01T24:00:00Z", "hour 24 is not from 0 to 23"), ("2026-03-01T12:60:00Z", "minute 60 is not from 0 to 59"),
    ("2026-03-01T12:00:61Z", "second 61 is not from 0 to 60"),
    ("2026-03-01T12:00:60Z", "second 60 (a leap second) is possible at 23:59 UTC only"),
    ("2026-03-01T12:00:00", "\"Z\" or an offset such as \"+01:00\" is expected at character 20"),
    ("2026-03-01T12:00:00.Z", "a digit is expected at character 21"),
    ("2026-03-01T12:00:00+24:00", "offset hour 24 is not from 0 to 23"),
    ("2026-03-01T12:00:00Zx", "nothing may follow character 20"),
    ("1969-12-31T23:59:59Z", "the time is outside the years 1970 to 9999"),
    ("9999-12-31T23:59:59-00:01", "the time is outside the years 1970 to 9999"),
    ("0000-01-01T00:00:00Z", "the time is outside the years 1970 to 9999"),
  ])
  func refuses(_ text: String, _ reason: String) {
    let error = #expect(throws: RFC3339Text.ParseError.self) { try RFC3339Text.time(text) }
    #expect(error?.message == "\"\(text)\" is not an RFC 3339 time: \(reason)")
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func agreesWithFoundation(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let style = Date.ISO8601FormatStyle(includingFractionalSeconds: false)
    for _ in 0..<100 {
      let seconds = Int64.random(in: 0...253_402_300_799, using: &generator)
      let text = RFC3339Text.text(.seconds(seconds))
      #expect(text == Date(timeIntervalSince1970: Double(seconds)).formatted(style), "seed \(seed)")
      let time = Duration.milliseconds(seconds * 1_000 + Int64.random(in: 0...999, using: &generator))
      #expect(try RFC3339Text.time(RFC3339Text.text(time)) == time, "seed \(seed)")
    }
  }
}
