import FetchVocabulary
import Testing

@testable import HTTPCaching

/// RFC 9111, sections 4, 4.2.4 and 5.2; RFC 5861.
struct ReuseTests {
  /// The stored response, the request, the time between them, and the decisions of a private and of a shared cache.
  struct Row: Sendable, CustomStringConvertible {
    let response: HTTP.Fields
    let request: HTTP.Fields
    let seconds: Int
    let action: CacheDecision.Action
    let reason: CacheDecision.ForwardReason?
    let sharedAction: CacheDecision.Action

    init(
      _ control: String, _ request: String = "", after seconds: Int, _ action: CacheDecision.Action,
      _ reason: CacheDecision.ForwardReason? = nil, shared: CacheDecision.Action? = nil, tag: String? = "\"v\""
    ) {
      var response: HTTP.Fields = ["Cache-Control": control]
      response["ETag"] = tag
      self.response = response
      self.request = request.isEmpty ? [:] : ["Cache-Control": request]
      self.seconds = seconds
      self.action = action
      self.reason = reason
      self.sharedAction = shared ?? action
    }

    var description: String { "[\(response.text)] [\(request.text)] after \(seconds) s" }
  }

  static let plain: [Row] = [
    Row("max-age=60", after: 0, .serve), Row("max-age=60", after: 59, .serve),
    Row("max-age=60", after: 60, .revalidate, .stale),
    Row("max-age=60", after: 61, .revalidate, .stale), Row("max-age=60", after: 61, .fetch, .stale, tag: nil),
    Row("max-age=60", after: -60, .serve), Row("max-age=0", after: 0, .revalidate, .stale),
    Row("no-cache, max-age=60", after: 1, .revalidate, .stale), Row("no-cache", after: 1, .fetch, .stale, tag: nil),
    Row("no-cache=\"a\", max-age=60", after: 1, .serve), Row("max-age=60, immutable, x=y", after: 1, .serve),
  ]

  /// Stored more than 60 seconds ahead of the clock.
  static let ahead: [Row] = [
    Row("max-age=60", after: -61, .revalidate, .stale), Row("max-age=60", after: -61, .fetch, .stale, tag: nil),
    Row("max-age=99999999", after: -864_000, .revalidate, .stale),
    Row("max-age=60", "max-age=3600", after: -61, .revalidate, .stale),
    Row("max-age=60", "max-stale=3600", after: -61, .revalidate, .stale),
    Row("max-age=60", "max-stale", after: -61, .serve),
    Row("max-age=60, must-revalidate", "max-stale", after: -61, .revalidate, .stale),
    Row("max-age=60", "only-if-cached", after: -61, .fail, .stale),
    Row("max-age=60, stale-while-revalidate=999999", after: -61, .revalidate, .stale),
  ]

  static let noCache: [Row] = [
    Row("max-age=60", "no-cache", after: 1, .revalidate, .request),
    Row("max-age=60", "No-Cache", after: 1, .revalidate, .request),
    Row("max-age=60", "no-cache", after: 1, .fetch, .request, tag: nil),
    Row("max-age=60", "no-cache, max-stale", after: 99, .revalidate, .request),
    Row("max-age=60", "no-cache, only-if-cached", after: 1, .fail, .request),
    Row("max-age=60", "no-store", after: 1, .serve), Row("no-cache", "max-stale", after: 1, .revalidate, .stale),
  ]

  static let maxAge: [Row] = [
    Row("max-age=60", "max-age=10", after: 10, .serve),
    Row("max-age=60", "max-age=10", after: 11, .revalidate, .request),
    Row("max-age=60", "max-age=0", after: 1, .revalidate, .request),
    Row("max-age=60, immutable", "max-age=0", after: 1, .serve),
    Row("max-age=60, immutable", "no-cache", after: 1, .revalidate, .request),
    Row("max-age=60, immutable", "max-age=0", after: 61, .revalidate, .stale),
    Row("max-age=60", "max-age=100", after: 61, .revalidate, .stale),
    Row("max-age=60", "max-age=x", after: 30, .serve),
    Row("max-age=60", "max-age=\"10\"", after: 11, .revalidate, .request),
    Row("max-age=60, must-revalidate", "max-age=10, max-stale=5", after: 12, .serve),
    Row("max-age=60", "max-age=10, max-stale=5", after: 15, .serve),
    Row("max-age=60", "max-age=10, max-stale=5", after: 16, .revalidate, .request),
    Row("max-age=60, stale-while-revalidate=60", "max-age=100", after: 61, .revalidate, .stale),
  ]

  static let maxStale: [Row] = [
    Row("max-age=60", "max-stale", after: 9_999, .serve), Row("max-age=60", "max-stale=10", after: 70, .serve),
    Row("max-age=60", "max-stale=10", after: 71, .revalidate, .stale),
    Row("max-age=60", "max-stale=0", after: 60, .serve),
    Row("max-age=60", "max-stale=0", after: 61, .revalidate, .stale),
    Row("max-age=60, must-revalidate", "max-stale", after: 61, .revalidate, .stale),
    Row("max-age=60, must-revalidate", after: 59, .serve),
    Row("max-age=60, proxy-revalidate", "max-stale", after: 61, .serve, shared: .revalidate),
    Row("max-age=60, s-maxage=60", "max-stale", after: 61, .serve, shared: .revalidate),
    Row("s-maxage=60, max-age=5", after: 10, .revalidate, .stale, shared: .serve),
    Row("max-age=60", "max-stale=x", after: 99, .serve), Row("max-age=60", "max-stale=99999999999", after: 99, .serve),
  ]

  static let minFresh: [Row] = [
    Row("max-age=60", "min-fresh=30", after: 30, .serve),
    Row("max-age=60", "min-fresh=30", after: 31, .revalidate, .request),
    Row("max-age=60", "min-fresh=0", after: 59, .serve), Row("max-age=60", "min-fresh=x", after: 59, .serve),
    Row("max-age=60", "min-fresh=30", after: 61, .revalidate, .stale),
    Row("max-age=60, stale-while-revalidate=60", "min-fresh=1", after: 61, .revalidate, .stale),
  ]

  static let onlyIfCached: [Row] = [
    Row("max-age=60", "only-if-cached", after: 1, .serve),
    Row("max-age=60", "only-if-cached", after: 61, .fail, .stale),
    Row("max-age=60", "only-if-cached, max-stale", after: 61, .serve),
    Row("max-age=60, must-revalidate", "only-if-cached, max-stale", after: 61, .fail, .stale),
    Row("max-age=60, stale-while-revalidate=60", "only-if-cached", after: 61, .serve),
  ]

  static let whileRevalidate: [Row] = [
    Row("max-age=60, stale-while-revalidate=30", after: 59, .serve),
    Row("max-age=60, stale-while-revalidate=30", after: 60, .serveThenRevalidate),
    Row("max-age=60, stale-while-revalidate=30", after: 89, .serveThenRevalidate),
    Row("max-age=60, stale-while-revalidate=30", after: 90, .revalidate, .stale),
    Row("max-age=60, stale-while-revalidate=30, must-revalidate", after: 61, .revalidate, .stale),
    Row("max-age=60, stale-while-revalidate=30, no-cache", after: 61, .revalidate, .stale),
    Row(
      "max-age=60, stale-while-revalidate=30, proxy-revalidate", after: 61, .serveThenRevalidate, shared: .revalidate),
    Row("max-age=60, stale-while-revalidate=x", after: 61, .revalidate, .stale),
    Row("max-age=60, stale-while-revalidate=30", "no-cache", after: 61, .revalidate, .request),
  ]

  @Test(arguments: plain + ahead + noCache + maxAge + maxStale + minFresh + onlyIfCached + whileRevalidate)
  func decides(_ row: Row) throws {
    for (isShared, action) in [(false, row.action), (true, row.sharedAction)] {
      let rules = HTTPCacheRules.testing(isShared: isShared)
      let stored = try #require(rules.stored(row.response))
      let decision = rules.decision(stored, for: row.request, after: row.seconds)
      #expect(decision.action == action, "shared: \(isShared), \(decision.reason)")
      if action == row.action { #expect(decision.forwardReason == row.reason, "shared: \(isShared)") }
    }
  }

  /// Section 5.4: `Pragma` counts only without `Cache-Control`.
  @Test(
    arguments: [
      (["Pragma": "no-cache"], .revalidate), (["Pragma": "x, No-Cache"], .revalidate), (["Pragma": "x"], .serve),
      (["Pragma": "no-cache", "Cache-Control": "max-age=100"], .serve),
      (["Pragma": "no-cache", "Cache-Control": ""], .serve),
    ] as [(HTTP.Fields, CacheDecision.Action)])
  func obeysPragma(_ request: HTTP.Fields, _ action: CacheDecision.Action) throws {
    let rules = HTTPCacheRules.testing()
    let stored = try #require(rules.stored(["Cache-Control": "max-age=60", "ETag": "\"v\""]))
    #expect(rules.decision(stored, for: request, after: 1).action == action)
  }

  @Test(arguments: ["POST", "PUT", "DELETE", "OPTIONS", "QUERY", "get"])
  func nothingIsServedForOtherMethods(_ method: String) throws {
    let rules = HTTPCacheRules.testing()
    let stored = try #require(rules.stored(["Cache-Control": "max-age=60"]))
    let decision = rules.decision(stored, after: 1, method: method)
    #expect(decision.action == .fetch && decision.forwardReason == .method)
  }

  @Test func aStoredResponseToGETIsServedForHEAD() throws {
    let rules = HTTPCacheRules.testing()
    let stored = try #require(rules.stored(["Cache-Control": "max-age=60"]))
    #expect(rules.decision(stored, after: 1, method: "HEAD").action == .serve)
    #expect(rules.decision(stored, after: 61, method: "HEAD").action == .fetch)
  }

  @Test(
    arguments: [
      (.uriMiss, [:], .fetch), (.varyMiss, [:], .fetch), (.partial, [:], .fetch),
      (.uriMiss, ["Cache-Control": "only-if-cached"], .fail),
      (.varyMiss, ["Cache-Control": "only-if-cached, max-stale"], .fail),
    ] as [(CacheDecision.ForwardReason, HTTP.Fields, CacheDecision.Action)])
  func sendsTheRequestIfNothingIsSelected(
    _ missing: CacheDecision.ForwardReason, _ request: HTTP.Fields, _ action: CacheDecision.Action
  ) {
    let decision = HTTPCacheRules.testing().decision(
      for: .testing(request), stored: nil, missing: missing, options: FetchOptions(), now: received)
    #expect(decision.action == action && decision.forwardReason == missing)
  }

  /// The options of the fetch, for a response that is fresh for 60 seconds.
  @Test(
    arguments: [
      (FetchOptions(policy: .networkOnly), 1, .fetch), (FetchOptions(policy: .cacheOnly), 1, .serve),
      (FetchOptions(policy: .cacheOnly), 9_999, .serve), (FetchOptions(policy: .cachedThenNetwork), 1, .serve),
      (FetchOptions(maxAge: .seconds(10)), 10, .serve), (FetchOptions(maxAge: .seconds(10)), 11, .revalidate),
      (FetchOptions(maxStale: .seconds(10)), 70, .serve), (FetchOptions(maxStale: .seconds(10)), 71, .revalidate),
      (FetchOptions(maxAge: .seconds(10), maxStale: .seconds(10)), 20, .serve),
      (FetchOptions(maxAge: .seconds(10), maxStale: .seconds(10)), 21, .revalidate),
    ] as [(FetchOptions, Int, CacheDecision.Action)])
  func obeysTheUser(_ options: FetchOptions, after seconds: Int, _ action: CacheDecision.Action) throws {
    let rules = HTTPCacheRules.testing()
    let stored = try #require(rules.stored(["Cache-Control": "max-age=60", "ETag": "\"v\""]))
    #expect(rules.decision(stored, after: seconds, options: options).action == action)
  }

  @Test(arguments: ["must-revalidate, max-age=60", "no-cache"])
  func theUserCannotAllowWhatTheOriginForbids(_ control: String) throws {
    let rules = HTTPCacheRules.testing(staleIfError: 600, staleWhileRevalidate: 600)
    let stored = try #require(rules.stored(["Cache-Control": control, "ETag": "\"v\""]))
    #expect(rules.decision(stored, after: 61, options: FetchOptions(maxStale: .seconds(600))).action == .revalidate)
    #expect(rules.decision(stored, after: 61, options: FetchOptions(policy: .cacheOnly)).action == .fail)
  }

  /// The lifetime and stale period that the configuration allows if the origin says nothing.
  @Test(
    arguments: [
      ("max-age=60", 89, .serveThenRevalidate), ("max-age=60", 90, .revalidate),
      ("max-age=60, stale-while-revalidate=0", 61, .revalidate),
      ("max-age=60, stale-while-revalidate=100", 100, .serveThenRevalidate),
    ] as [(String, Int, CacheDecision.Action)])
  func obeysTheConfiguration(_ control: String, after seconds: Int, _ action: CacheDecision.Action) throws {
    let rules = HTTPCacheRules.testing(staleWhileRevalidate: 30)
    let stored = try #require(rules.stored(["Cache-Control": control, "ETag": "\"v\""]))
    #expect(rules.decision(stored, after: seconds).action == action)
  }
}
