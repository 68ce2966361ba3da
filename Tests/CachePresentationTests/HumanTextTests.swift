import CachePresentation
import Testing

struct HumanTextTests {
  @Test(arguments: [
    (0, "0"), (999, "999"), (1_000, "1,000"), (54_298_476_501, "54,298,476,501"), (-1_234, "-1,234"), (-12, "-12"),
    (.min, "-9,223,372,036,854,775,808"),
  ])
  func number(_ number: Int, _ text: String) { #expect(NumberText.text(number) == text) }

  @Test(arguments: [(0, "$0"), (54_298_476_501, "$54,298,476,501"), (-1_200, "-$1,200")])
  func dollars(_ amount: Int, _ text: String) { #expect(NumberText.dollars(amount) == text) }

  @Test(arguments: [(0, "0 cities"), (1, "1 city"), (6_057, "6,057 cities")])
  func count(_ count: Int, _ text: String) { #expect(NumberText.count(count, "city", "cities") == text) }

  @Test(
    arguments: [
      (0, 0, "0"), (1234.5, 1, "1,234.5"), (0.05, 2, "0.05"), (0.999, 2, "1.00"), (2, 3, "2.000"), (1e300, 1, "-"),
      (.nan, 0, "-"), (.infinity, 0, "-"),
    ] as [(Double, Int, String)])
  func decimal(_ number: Double, _ places: Int, _ text: String) {
    #expect(NumberText.decimal(number, places: places) == text)
  }

  @Test(arguments: [
    (0, "0 B"), (1_023, "1023 B"), (1_024, "1.0 KiB"), (1_468_006, "1.4 MiB"), (1_048_575, "1.0 MiB"),
    (1_073_741_824, "1.0 GiB"), (.max, "8.0 EiB"),
  ])
  func byteCount(_ count: Int, _ text: String) { #expect(ByteCountText.text(count) == text) }

  @Test(
    arguments: [
      (.zero, "0 s"), (.seconds(59), "59 s"), (.milliseconds(59_600), "1 min"), (.seconds(3_599), "1 h"),
      (.seconds(3_420), "57 min"), (.seconds(-7_200), "2 h"), (.seconds(172_800), "2 days"),
      (.seconds(86_400 * 90), "3 months"), (.seconds(86_400 * 800), "2 years"),
      (.seconds(Int64.max), "292,271,023,045 years"),
    ] as [(Duration, String)])
  func rough(_ duration: Duration, _ text: String) { #expect(ElapsedTimeText.rough(duration) == text) }

  @Test(arguments: [(0, "0:00"), (42, "0:42"), (725, "12:05"), (3_723, "1:02:03")])
  func clock(_ seconds: Int, _ text: String) { #expect(ElapsedTimeText.clock(.seconds(seconds)) == text) }

  @Test(arguments: [
    (0, "just now"), (-1, "just now"), (1, "just now"), (-12, "12 s ago"), (-180, "3 min ago"), (7_200, "in 2 h"),
    (-86_400 * 5, "5 days ago"),
  ])
  func relativeTime(_ seconds: Int, _ text: String) {
    #expect(RelativeTimeText.text(.seconds(1_000_000 + seconds), now: .seconds(1_000_000)) == text)
  }

  @Test func theLastInstantIsNever() {
    #expect(RelativeTimeText.text(RFC3339Text.latest, now: .seconds(1_000_000)) == "never")
  }
}
