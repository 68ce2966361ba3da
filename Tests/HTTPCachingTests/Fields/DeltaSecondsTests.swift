import Testing

@testable import HTTPCaching

struct DeltaSecondsTests {
  @Test(arguments: [
    ("0", 0), ("1", 1), ("007", 7), ("3600", 3_600), ("2147483647", 2_147_483_647), ("2147483648", 2_147_483_648),
    ("2147483649", 2_147_483_648), ("9223372036854775807", 2_147_483_648), ("9223372036854775808", 2_147_483_648),
    ("340282366920938463463374607431768211456", 2_147_483_648), (String(repeating: "9", count: 5_000), 2_147_483_648),
    (String(repeating: "0", count: 100) + "5", 5),
  ])
  func readsANumberAndTakesAGreaterOneForTheGreatest(_ text: String, _ seconds: Int) {
    #expect(DeltaSeconds.duration(text) == .seconds(seconds))
  }

  @Test(arguments: ["", " ", "-1", "+1", "1.0", "1e3", "0x10", "1 ", " 1", "abc", "1,2", "٣", "१", "１", "1\u{0}", "∞"])
  func refusesWhatIsNoNumber(_ text: String) {
    #expect(DeltaSeconds.duration(text) == nil)
  }
}
