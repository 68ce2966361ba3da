import FetchVocabulary
import Testing

@testable import HTTPCaching

/// Each decision records the steps that led to it.
struct TraceTests {
  @Test(arguments: [
    ("max-age=60", "", 10, ["stored response", "age", "lifetime", "freshness"], "fresh"),
    ("max-age=60", "", 70, ["stored response", "age", "lifetime", "freshness"], "stale"),
    ("max-age=60", "max-age=5", 10, ["stored response", "age", "lifetime", "freshness", "max-age"], "older"),
    (
      "max-age=60", "min-fresh=55", 10, ["stored response", "age", "lifetime", "freshness", "min-fresh"],
      "stays fresh longer"
    ),
    ("max-age=60", "max-stale=20", 70, ["stored response", "age", "lifetime", "freshness", "max-stale"], "accepted"),
    ("max-age=60", "no-cache", 10, ["stored response", "request"], "request says no-cache"),
    ("no-cache", "", 10, ["stored response", "response"], "response says no-cache"),
    (
      "max-age=60, must-revalidate", "", 70, ["stored response", "age", "lifetime", "freshness", "stale use"],
      "must-revalidate"
    ),
    (
      "max-age=60, stale-while-revalidate=20", "", 70,
      ["stored response", "age", "lifetime", "freshness", "stale-while-revalidate"], "while it is revalidated"
    ),
    ("max-age=60", "", -61, ["stored response", "age", "freshness"], "age of the stored response is unknown"),
    (
      "max-age=60", "only-if-cached", 70, ["stored response", "age", "lifetime", "freshness"],
      "only the cache is allowed"
    ),
  ])
  func namesTheCriteria(
    _ control: String, _ request: String, after seconds: Int, _ names: [String], _ reason: String
  ) throws {
    let rules = HTTPCacheRules.testing()
    let stored = try #require(rules.stored(["Cache-Control": control]))
    let trace = CacheTrace()
    let decision = rules.decision(
      for: .testing(request.isEmpty ? [:] : ["Cache-Control": request]), stored: stored, options: FetchOptions(),
      now: received + .seconds(seconds), trace: trace)
    #expect(trace.criteria.map(\.name) == names)
    #expect(decision.reason.contains(reason), "\(decision.reason)")
    for criterion in trace.criteria {
      #expect(!criterion.finding.isEmpty && !criterion.finding.contains("\n") && !criterion.finding.hasSuffix("."))
    }
  }

  @Test(
    arguments: [
      ([:], "GET", FetchOptions(), "stored response", "nothing is stored"),
      ([:], "POST", FetchOptions(), "method", "the method is POST"),
      ([:], "GET", FetchOptions(policy: .networkOnly), "policy", "the policy is network-only"),
      (["Cache-Control": "only-if-cached"], "GET", FetchOptions(), "stored response", "only the cache is allowed"),
    ] as [(HTTP.Fields, String, FetchOptions, String, String)])
  func namesTheReasonAgainstUsingTheCache(
    _ request: HTTP.Fields, _ method: String, _ options: FetchOptions, _ name: String, _ reason: String
  ) {
    let trace = CacheTrace()
    let decision = HTTPCacheRules.testing().decision(
      for: .testing(request, method: method), stored: nil, options: options, now: received, trace: trace)
    #expect(trace.criteria.map(\.name) == [name])
    #expect(decision.reason.contains(reason), "\(decision.reason)")
  }

  @Test(arguments: [
    (200, "no-store", "no-store"), (200, "private", "private"), (599, "", "599"), (304, "max-age=60", "304"),
    (599, "must-understand, max-age=60", "must-understand"), (206, "max-age=60", "part"), (416, "max-age=60", "416"),
    (200, "max-age=60", "fresh for 60 s by max-age"), (200, "s-maxage=5, max-age=60", "fresh for 5 s by s-maxage"),
    (200, "max-age=x", "malformed max-age"), (200, "", "configured time to live"), (200, "no-cache", "no-cache"),
  ])
  func saysWhyAResponseIsStoredOrNot(_ status: Int, _ control: String, _ words: String) {
    let rules = HTTPCacheRules.testing(isShared: true, timeToLive: 60)
    let trace = CacheTrace()
    let head = HTTP.ResponseHead(status: status, fields: ["Cache-Control": control])
    _ = rules.stored(head, for: .testing(), requestTime: received, responseTime: received, trace: trace)
    #expect(trace.criteria.map(\.name) == ["storing"])
    #expect(trace.criteria.first?.finding.contains(words) == true, "\(trace.criteria)")
  }
}
