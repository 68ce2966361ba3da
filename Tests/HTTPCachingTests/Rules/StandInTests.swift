import Testing

@testable import HTTPCaching

/// RFC 5861, section 4.
struct StandInTests {
  /// Whether a response may answer for a failing origin, with 30 seconds configured.
  @Test(arguments: [
    ("max-age=60", "", 59, true, true), ("max-age=60", "", 89, true, true), ("max-age=60", "", 90, false, false),
    ("max-age=60, stale-if-error=100", "", 159, true, true), ("max-age=60, stale-if-error=100", "", 160, false, false),
    ("max-age=60, stale-if-error=0", "", 61, false, false), ("max-age=60, stale-if-error=x", "", 89, true, true),
    ("max-age=60, must-revalidate, stale-if-error=100", "", 61, false, false),
    ("no-cache, stale-if-error=100", "", 1, false, false),
    ("max-age=60, proxy-revalidate", "", 61, true, false), ("max-age=60, s-maxage=60", "", 61, true, false),
    ("max-age=60, no-cache=\"a\"", "", 61, true, true),
    // A response stored ahead of the clock has an unknown age; it may answer if any stale response may.
    ("max-age=60", "", -61, true, true), ("max-age=60, stale-if-error=0", "", -61, false, false),
    ("max-age=60, must-revalidate", "", -61, false, false),
    // The request may allow it too, within what the response allows.
    ("max-age=60", "stale-if-error=100", 159, true, true), ("max-age=60", "stale-if-error=100", 160, false, false),
    ("max-age=60, must-revalidate", "stale-if-error=100", 61, false, false),
    ("max-age=60", "stale-if-error=0", 61, false, false),
  ])
  func standsIn(_ control: String, _ request: String, after seconds: Int, privately: Bool, shared: Bool) throws {
    for (isShared, expected) in [(false, privately), (true, shared)] {
      let rules = HTTPCacheRules.testing(isShared: isShared, staleIfError: 30)
      let stored = try #require(rules.stored(["Cache-Control": control]))
      var trace = CacheTrace(isRecording: true)
      let mayStandIn = rules.mayStandIn(
        stored, for: ["Cache-Control": request], at: received + .seconds(seconds), trace: &trace)
      #expect(mayStandIn == expected, "shared: \(isShared)")
      #expect(trace.criteria.count == 1)
    }
  }
}
