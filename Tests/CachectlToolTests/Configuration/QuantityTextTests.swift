import Testing

@testable import CachectlTool
@testable import CacheConfiguration

struct QuantityTextTests {
  @Test(
    arguments: [
      ("0s", 0, "0s"), ("90s", 90_000, "1m30s"), ("5m", 300_000, "5m"), ("1h30m", 5_400_000, "1h30m"),
      ("7d", 604_800_000, "7d"), ("250ms", 250, "250ms"), ("1d2h3m4s5ms", 93_784_005, "1d2h3m4s5ms"),
      ("36h", 129_600_000, "1d12h"), ("007s", 7_000, "7s"),
      ("9223372036854775807ms", Int64.max, "106751991167d7h12m55s807ms"),
    ] as [(String, Int64, String)])
  func readsDurations(text: String, milliseconds: Int64, canonical: String) throws {
    let duration = try #require(DurationText(text))
    #expect(duration.milliseconds == milliseconds)
    #expect(duration.duration == .milliseconds(milliseconds))
    #expect(duration.description == canonical)
    #expect(DurationText(canonical) == duration)
  }

  @Test(arguments: [
    "", "0", "5", "s", "-5s", "+5s", "1.5h", "5 m", " 5m", "5m ", "5M", "1w", "30m1h", "1s1s", "1ms1s", "5mm", "５s",
    "9223372036854775808ms", "106751991168d", "106751991167d24h", "99999999999999999999d",
  ])
  func refusesOtherDurations(text: String) {
    #expect(DurationText(text) == nil)
  }

  @Test(
    arguments: [
      (Duration.seconds(90), 90_000), (.microseconds(1_999), 1), (.seconds(-1), 0), (.seconds(Int64.max), Int64.max),
      (.seconds(Int64.min), 0),
    ] as [(Duration, Int64)])
  func keepsDurationsWithinTheRange(duration: Duration, milliseconds: Int64) {
    #expect(DurationText(duration).milliseconds == milliseconds)
  }

  @Test(
    arguments: [
      ("0B", 0, "0B"), ("1024B", 1_024, "1KiB"), ("512KiB", 524_288, "512KiB"), ("64MiB", 67_108_864, "64MiB"),
      ("1GB", 1_000_000_000, "1GB"), ("1GiB", 1_073_741_824, "1GiB"), ("1536MiB", 1_610_612_736, "1536MiB"),
      ("1000KiB", 1_024_000, "1000KiB"), ("3TB", 3_000_000_000_000, "3TB"), ("2TiB", 2_199_023_255_552, "2TiB"),
      ("5KB", 5_000, "5KB"), ("7MB", 7_000_000, "7MB"), ("1023B", 1_023, "1023B"),
      ("9223372036854775807B", Int64.max, "9223372036854775807B"),
    ] as [(String, Int64, String)])
  func readsSizes(text: String, bytes: Int64, canonical: String) throws {
    let size = try #require(ByteSizeText(text))
    #expect(size.bytes == bytes)
    #expect(size.description == canonical)
    #expect(ByteSizeText(canonical) == size)
  }

  @Test(arguments: [
    "", "1", "B", "-1B", "1.5GiB", "1 KiB", "1kb", "1kB", "1K", "1KiB1B", "64mib", "1PB", "9223372036854775808B",
    "8388608TiB",
  ])
  func refusesOtherSizes(text: String) {
    #expect(ByteSizeText(text) == nil)
  }

  @Test func everyLengthAndSizeReadsBack() {
    var value: Int64 = 1
    while value < Int64.max / 3 {
      for number in [value - 1, value, value + 1] {
        #expect(DurationText(DurationText(milliseconds: number).description)?.milliseconds == number)
        #expect(ByteSizeText(ByteSizeText(bytes: number).description)?.bytes == number)
      }
      value = value * 3 - value / 2 + 1
    }
  }
}
