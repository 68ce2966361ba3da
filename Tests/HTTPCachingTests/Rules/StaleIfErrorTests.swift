import FetchVocabulary
import Testing

@testable import HTTPCaching

/// RFC 5861, section 4.
struct StaleIfErrorTests {
  /// Whether a response may be served if the origin fails, with 30 seconds configured.
  @Test(arguments: [
    ("max-age=60", "", 59, true, true), ("max-age=60", "", 89, true, true), ("max-age=60", "", 90, false, false),
    ("max-age=60, stale-if-error=100", "", 159, true, true), ("max-age=60, stale-if-error=100", "", 160, false, false),
    ("max-age=60, stale-if-error=0", "", 61, false, false), ("max-age=60, stale-if-error=x", "", 89, true, true),
    ("max-age=60, must-revalidate, stale-if-error=100", "", 61, false, false),
    ("no-cache, stale-if-error=100", "", 1, false, false),
    ("max-age=60, proxy-revalidate", "", 61, true, false), ("max-age=60, s-maxage=60", "", 61, true, false),
    ("max-age=60, no-cache=\"a\"", "", 61, true, true),
    // A response stored ahead of the clock has an unknown age; it may be served if any stale response may.
    ("max-age=60", "", -61, true, true), ("max-age=60, stale-if-error=0", "", -61, false, false),
    ("max-age=60, must-revalidate", "", -61, false, false),
    // The request may allow it too, within what the response allows.
    ("max-age=60", "stale-if-error=100", 159, true, true), ("max-age=60", "stale-if-error=100", 160, false, false),
    ("max-age=60, must-revalidate", "stale-if-error=100", 61, false, false),
    ("max-age=60", "stale-if-error=0", 61, false, false),
    // Without a confirmation the request accepts nothing (RFC 9111, section 5.2.1.4), or nothing so stale.
    ("max-age=60", "no-cache", 59, false, false), ("max-age=60", "no-cache", 61, false, false),
    ("max-age=60", "no-cache, stale-if-error=100", 61, false, false),
    ("max-age=60", "max-stale=0", 61, false, false), ("max-age=60", "max-stale=0", 60, true, true),
    ("max-age=60", "max-stale=10", 70, true, true), ("max-age=60", "max-stale=10", 71, false, false),
    ("max-age=60", "max-stale=99", 90, false, false), ("max-age=60", "max-stale", 89, true, true),
    ("max-age=60", "max-age=10, max-stale=5", 15, true, true),
    ("max-age=60", "max-age=10, max-stale=5", 16, false, false),
    ("max-age=60", "max-stale=10", -61, false, false), ("max-age=60", "max-stale", -61, true, true),
    ("max-age=60", "max-age=10", 89, true, true),
  ])
  func answersForAFailingOrigin(_ control: String, _ request: String, after seconds: Int, privately: Bool, shared: Bool)
    throws
  {
    for (isShared, expected) in [(false, privately), (true, shared)] {
      let rules = HTTPCacheRules.testing(isShared: isShared, staleIfError: 30)
      let stored = try #require(rules.stored(["Cache-Control": control]))
      let trace = CacheTrace()
      let canServeStale = rules.canServeStale(
        stored, for: ["Cache-Control": request], at: received + .seconds(seconds), trace: trace)
      #expect(canServeStale == expected, "shared: \(isShared)")
      #expect(trace.criteria.count == 1)
    }
  }

  @Test func pragmaCountsAsNoCacheWithoutCacheControl() throws {
    let rules = HTTPCacheRules.testing(staleIfError: 30)
    let stored = try #require(rules.stored(["Cache-Control": "max-age=60"]))
    for (request, expected) in [(["Pragma": "no-cache"], false), (["Pragma": "no-cache", "Cache-Control": "a"], true)]
      as [(HTTP.Fields, Bool)]
    {
      #expect(rules.canServeStale(stored, for: request, at: received + .seconds(61)) == expected)
    }
  }

  /// The user's limit holds whatever the origin allows.
  @Test(arguments: [(0, 60, true), (0, 61, false), (10, 70, true), (10, 71, false), (1_000, 160, false)])
  func theLimitOfTheOptionsHolds(limit: Int, after seconds: Int, expected: Bool) throws {
    let rules = HTTPCacheRules.testing(staleIfError: 30, staleWhileRevalidate: 100)
    let stored = try #require(rules.stored(["Cache-Control": "max-age=60, stale-if-error=100"]))
    let options = FetchOptions(maxStale: .seconds(limit))
    #expect(
      rules.canServeStale(stored, options: options, at: received + .seconds(seconds)) == expected)
    let isServed = rules.decision(stored, after: seconds, options: options).action == .serve
    #expect(isServed == (seconds <= 60 + limit))
    #expect(isServed || rules.decision(stored, after: seconds, options: options).action == .fetch)
    var offline = options
    offline.policy = .cacheOnly
    #expect((rules.decision(stored, after: seconds, options: offline).action == .serve) == isServed)
  }

  @Test(arguments: [FetchPolicy.cacheFirst, .cacheOnly], [nil, 1_000])
  func responsesThatMustBeFreshAreNeverServedStale(policy: FetchPolicy, maxStale: Int?) throws {
    let rules = HTTPCacheRules.testing(staleIfError: 30, staleWhileRevalidate: 100)
    let stored = try #require(rules.stored(["Cache-Control": "max-age=60, stale-while-revalidate=100"]))
    let options = FetchOptions(policy: policy, maxStale: maxStale.map { .seconds($0) }, requiresFresh: true)
    for (seconds, isServed) in [(59, true), (60, false), (-61, false)] {
      let decision = rules.decision(stored, for: ["Cache-Control": "max-stale"], after: seconds, options: options)
      #expect((decision.action == .serve) == isServed)
      #expect(isServed || decision.action == (policy == .cacheOnly ? .fail : .fetch))
    }
  }
}
