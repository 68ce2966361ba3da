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

  @Test(arguments: 0..<20 as Range<UInt64>)
  func agreesWithFoundation(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let style = Date.ISO8601FormatStyle(includingFractionalSeconds: false)
    for _ in 0..<100 {
      let seconds = Int64.random(in: 0...253_402_300_799, using: &generator)
      let text = RFC3339Text.text(.seconds(seconds))
      #expect(text == Date(timeIntervalSince1970: Double(seconds)).formatted(style), "seed \(seed)")
    }
  }
}
