import SeededNumbers
import Testing

@testable import HTTPCaching

struct HTTPDateTests {
  /// Sat, 21 Nov 2026 10:00:00 GMT.
  static let now: Duration = .seconds(1_795_255_200)

  @Test(arguments: [
    ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
    ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Sun Nov 16 08:49:37 1994", 784_975_777),
    ("sUN, 06 nOV 1994 08:49:37 gmt", 784_111_777), ("SUNDAY, 06-NOV-94 08:49:37 GMT", 784_111_777),
    ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
    ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400), ("Thu, 29 Feb 2024 12:00:00 GMT", 1_709_208_000),
    ("Tue, 19 Jan 2038 03:14:08 GMT", 2_147_483_648), ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
    ("Sat, 01 Jan 0000 00:00:00 GMT", -62_167_219_200),
    // A leap second becomes the first second of the next minute, and a wrong day of the week is accepted.
    ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800), ("Fri, 06 Nov 1994 08:49:37 GMT", 784_111_777),
  ])
  func understands(_ text: String, seconds: Int) {
    #expect(HTTPDate.time(text, now: Self.now) == .seconds(seconds))
  }

  @Test(arguments: [
    "", " ", "0", "-1", "1994", "now", "Sun", "Sun,", "GMT", "Sun, 06 Nov 1994 08:49:37",
    "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37 AEST", "Sun, 06 Nov 1994 08:49:37 +0000",
    "Sun, 06 Nov 1994 08:49:37 GMT GMT", "Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT",
    "Sun 06 Nov 1994 08:49:37 GMT", "Sun, 06  Nov  1994 08:49:37 GMT", "Sun, 06-Nov-1994 08:49:37 GMT",
    "Sun, 06 Nov 94 08:49:37 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT", "Sunday, 06 Nov 94 08:49:37 GMT",
    "Sun, 06 Nov 1994 08.49.37 GMT", "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT",
    "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
    "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 31 Nov 1994 08:49:37 GMT",
    "Tue, 29 Feb 2023 00:00:00 GMT", "Thu, 29 Feb 1900 00:00:00 GMT", "Sun, 06 Foo 1994 08:49:37 GMT",
    "Foo, 06 Nov 1994 08:49:37 GMT", "Sun, 06 November 1994 08:49:37 GMT", "Sun, 06 Nov 19994 08:49:37 GMT",
    "Sun, 06 Nov -994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:-7 GMT", "Sun, ٠٦ Nov 1994 08:49:37 GMT",
    "Sun Nov 6 08:49:37 1994", "Sun Nov  6 08:49:37 94", "Sun Nov 06 08:49:37 1994 GMT", "Sun, Nov  6 08:49:37 1994",
    "Sun, 06 Nov 1994 08:49:37 GMT ", " Sun, 06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37Z",
    "Sun, 06 Nov 1994 08:49:37\u{0}GMT", "Sun,06 Nov 1994 08:49:37 GMT",
  ])
  func refuses(_ text: String) {
    #expect(HTTPDate.time(text, now: Self.now) == nil, "\(text)")
  }

  /// RFC 9110, section 5.6.7: a two-digit year that seems to be more than 50 years in the future is in the past.
  @Test(arguments: [
    (1_795_255_200, "Sunday, 06-Nov-94 00:00:00 GMT", 1994), (1_795_255_200, "Sunday, 06-Nov-26 00:00:00 GMT", 2026),
    (1_795_255_200, "Sunday, 06-Nov-76 00:00:00 GMT", 2076), (1_795_255_200, "Sunday, 06-Nov-77 00:00:00 GMT", 1977),
    (1_795_255_200, "Sunday, 06-Nov-00 00:00:00 GMT", 2000), (4_070_908_800, "Sunday, 06-Nov-10 00:00:00 GMT", 2110),
    (4_070_908_800, "Sunday, 06-Nov-48 00:00:00 GMT", 2148), (4_070_908_800, "Sunday, 06-Nov-50 00:00:00 GMT", 2050),
  ])
  func aYearOfTwoDigitsIsAtMostFiftyYearsAhead(_ now: Int, _ text: String, year: Int) throws {
    let time = try #require(HTTPDate.time(text, now: .seconds(now)))
    #expect(HTTPDate.text(time).contains(" \(year) "))
  }

  @Test(arguments: [
    (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
    (-1, "Wed, 31 Dec 1969 23:59:59 GMT"), (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
    (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
  ])
  func writes(_ seconds: Int, _ text: String) {
    #expect(HTTPDate.text(.seconds(seconds)) == text)
  }

  @Test func writesPartsOfASecondAsTheSecondTheyAreIn() {
    #expect(HTTPDate.text(.milliseconds(784_111_777_999)) == "Sun, 06 Nov 1994 08:49:37 GMT")
  }

  /// Dates can be read back in each of the three formats.
  @Test(arguments: [UInt64.random(in: 0...UInt64.max)])
  func writtenTextIsUnderstood(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<2_000 {
      let seconds = Int64.random(in: -62_135_596_800...253_402_300_799, using: &generator)
      let text = HTTPDate.text(.seconds(seconds))
      try #require(HTTPDate.time(text, now: Self.now) == .seconds(seconds), "seed \(seed): \(text)")
      let asctime = Self.asctime(text)
      try #require(HTTPDate.time(asctime, now: Self.now) == .seconds(seconds), "seed \(seed): \(asctime)")
    }
  }

  /// `Sun, 06 Nov 1994 08:49:37 GMT` as `Sun Nov  6 08:49:37 1994`.
  private static func asctime(_ text: String) -> String {
    let words = text.split(separator: " ").map(String.init)
    let day = words[1].hasPrefix("0") ? " \(words[1].dropFirst())" : words[1]
    return "\(words[0].dropLast()) \(words[2]) \(day) \(words[4]) \(words[3])"
  }
}
