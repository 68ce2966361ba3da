import CacheBase
import SeededNumbers
import Testing

struct CalendarTests {
  @Test(
    arguments: [
      (0, "1970-01-01T00:00:00.000Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
      (4_107_542_399_999, "2100-02-28T23:59:59.999Z"), (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
      (1_769_846_950_123, "2026-01-31T08:09:10.123Z"), (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
    ] as [(Int64, String)])
  func timesAreWrittenAsInRFC3339(milliseconds: Int64, text: String) {
    #expect(RFC3339.text(milliseconds) == text)
    #expect(RFC3339.time(text) == milliseconds)
  }

  @Test(arguments: [
    "", "2026-02-30T00:00:00.000Z", "2026-13-01T00:00:00.000Z", "2026-01-01T24:00:00.000Z", "2026-01-01T00:00:60.000Z",
    "2026-01-01 00:00:00.000Z", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00.000+", "1969-12-31T23:59:59.999Z",
    "\u{FF}\u{FF}\u{FF}\u{FF}\u{FF}\u{FF}\u{FF}\u{FF}\u{FF}\u{FF}\u{FF}\u{FF}", "2026-00-10T00:00:00.000Z",
  ])
  func otherTimesAreRefused(text: String) { #expect(RFC3339.time(text) == nil) }

  @Test(arguments: [
    (0, 1970, 1, 1, 4), (-1, 1969, 12, 31, 3), (11_016, 2000, 2, 29, 2), (47_541, 2100, 3, 1, 1),
    (-719_468, 0, 3, 1, 3), (-719_469, 0, 2, 29, 2), (-135_140, 1600, 1, 1, 6), (2_932_896, 9999, 12, 31, 5),
  ])
  func days(_ days: Int, _ year: Int, _ month: Int, _ day: Int, weekday: Int) throws {
    let date = CivilDate(days: days)
    #expect((date.year, date.month, date.day, date.weekday) == (year, month, day, weekday))
    #expect(CivilDate(year: year, month: month, day: day) == date)
  }

  @Test(arguments: [
    (2026, 2, 29), (1900, 2, 29), (2024, 2, 30), (2026, 4, 31), (2026, 0, 1), (2026, 13, 1), (2026, 1, 0),
    (2026, 1, 32),
  ])
  func daysThatDoNotExist(_ year: Int, _ month: Int, _ day: Int) {
    #expect(CivilDate(year: year, month: month, day: day) == nil)
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func writtenTextIsRead(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<100 {
      let time = Int64.random(in: 0...RFC3339.latest, using: &generator)
      #expect(RFC3339.time(RFC3339.text(time)) == time, "seed \(seed)")
    }
  }
}
