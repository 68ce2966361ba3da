import Testing

@testable import HTTPCaching

/// RFC 9111, section 4.2.
struct FreshnessTests {
  /// Section 4.2.1, for a configured time to live of 30 seconds.
  @Test(
    arguments: [
      ([:], 30, 30), (["Cache-Control": "max-age=60"], 60, 60), (["Cache-Control": "max-age=0"], 0, 0),
      (["Cache-Control": "max-age=60, s-maxage=5"], 60, 5), (["Cache-Control": "s-maxage=5"], 30, 5),
      (["Cache-Control": "max-age=60", "cache-control": "s-maxage=5"], 60, 5),
      (["Cache-Control": "max-age=60, s-maxage=x"], 60, 0),
      (["Cache-Control": "max-age=x", "Expires": date(50)], 0, 0),
      (["Cache-Control": "max-age=60", "Expires": date(-50)], 60, 60),
      (["Cache-Control": "max-age=0", "Expires": date(50)], 0, 0),
      (["Cache-Control": "max-age=60", "Expires": "0"], 60, 60), (["Cache-Control": "max-age=60, no-cache"], 0, 0),
      (["Cache-Control": "max-age=60, no-cache=\"a\""], 60, 60), (["Cache-Control": "max-age=60, max-age=5"], 60, 60),
      (["Cache-Control": "max-age=99999999999"], 2_147_483_648, 2_147_483_648),
      (["Cache-Control": "max-age=3600", "CDN-Cache-Control": "max-age=5"], 3_600, 5),
      (["Cache-Control": "max-age=5, s-maxage=7", "CDN-Cache-Control": "max-age=3600"], 5, 3_600),
      (["Cache-Control": "max-age=5", "CDN-Cache-Control": "max-age=1, s-maxage=7"], 5, 7),
      (["Expires": date(50), "CDN-Cache-Control": "x"], 50, 30),
      (["Expires": date(50), "CDN-Cache-Control": "X"], 50, 50),
      (["Cache-Control": "max-age=60", "CDN-Cache-Control": "no-cache"], 60, 0),
      (["Cache-Control": "max-age=60", "CDN-Cache-Control": "max-age=\"10\""], 60, 0),
    ] as [(HTTP.Fields, Int, Int)])
  func lasts(_ fields: HTTP.Fields, privately: Int, shared: Int) {
    for (isShared, seconds) in [(false, privately), (true, shared)] {
      let rules = HTTPCacheRules.testing(isShared: isShared, timeToLive: 30)
      let lifetime = rules.freshnessLifetime(of: HTTP.ResponseHead(status: 200, fields: fields), receivedAt: received)
      #expect(lifetime.duration == .seconds(seconds), "shared: \(isShared)")
    }
  }

  /// `Expires` counts from `Date`, whatever this machine's clock says.
  @Test(
    arguments: [
      (["Expires": date(50)], 50), (["Expires": date(50), "Date": date()], 50),
      (["Expires": date(50), "Date": date(-10)], 60),
      (["Expires": date(5_050), "Date": date(5_000)], 50), (["Expires": date(300), "Date": date(400)], 0),
      (["Expires": date(), "Date": date()], 0), (["Expires": date(-50)], 0), (["Expires": "0"], 0),
      (["Expires": "-1"], 0),
      (["Expires": ""], 0), (["Expires": date(50), "Date": "foo"], 50),
      (["Expires": date(50), "expires": date(60)], 0),
      (["Expires": "Saturday, 21-Nov-26 10:00:50 GMT"], 50), (["Expires": "Sat Nov 21 10:00:50 2026"], 50),
      (["Expires": "Sat, 21 Nov 2026 10:00:50 UTC"], 0), (["Expires": "Sat, 21-Nov-2026 10:00:50 GMT"], 0),
      (["Expires": "Fri, 31 Dec 9999 23:59:59 GMT"], 251_607_045_599),
      (["Expires": "Fri, 31 Dec 9999 23:59:59 GMT", "Date": "Sat, 01 Jan 0000 00:00:00 GMT"], 315_569_519_999),
    ] as [(HTTP.Fields, Int)])
  func lastsUntilItExpires(_ fields: HTTP.Fields, _ seconds: Int) {
    let rules = HTTPCacheRules.testing(timeToLive: 30)
    let lifetime = rules.freshnessLifetime(of: HTTP.ResponseHead(status: 200, fields: fields), receivedAt: received)
    #expect(lifetime.duration == .seconds(seconds))
  }

  /// Section 4.2.2: which statuses allow a heuristic, and the lifetime from Last-Modified, with a configured time to
  /// live of 200 seconds: first with the heuristic for URLs, then with that for typed origins.
  @Test(
    arguments: [
      (200, ["Last-Modified": date(-1_000)], 100, 200),
      (200, ["Last-Modified": date(-1_000), "Date": date(-500)], 50, 200),
      (200, ["Last-Modified": date(-2_010)], 200, 200), (200, ["Last-Modified": date(-30_000_000)], 200, 200),
      (200, ["Last-Modified": date()], 0, 200), (200, ["Last-Modified": date(10)], 0, 200),
      (200, ["Last-Modified": "foo"], 0, 200), (200, ["ETag": "\"v\""], 0, 200), (200, [:], 0, 200),
      (404, ["Last-Modified": date(-1_000)], 100, 200), (404, [:], 0, 200), (501, [:], 0, 200), (204, [:], 0, 200),
      (599, ["Last-Modified": date(-1_000)], 0, 0), (302, [:], 0, 0), (599, ["Cache-Control": "private"], 0, 0),
      (302, ["Last-Modified": date(-1_000)], 0, 0), (599, ["Cache-Control": "public"], 0, 200),
      (599, ["Cache-Control": "public", "Last-Modified": date(-1_000)], 100, 200),
      (599, ["Cache-Control": "max-age=60"], 60, 60), (302, ["Expires": date(60)], 60, 60),
      (200, ["Cache-Control": "must-revalidate", "Last-Modified": date(-1_000)], 100, 200),
      (200, ["Last-Modified": "Sat, 01 Jan 0000 00:00:00 GMT"], 200, 200), (200, ["Pragma": "no-cache"], 0, 200),
    ] as [(Int, HTTP.Fields, Int, Int)])
  func isGuessed(_ status: Int, _ fields: HTTP.Fields, ofURL: Int, ofTypedOrigin: Int) {
    for (heuristic, seconds) in [(HTTPCacheRules.Heuristic.lastModified, ofURL), (.timeToLive, ofTypedOrigin)] {
      var rules = HTTPCacheRules.testing(timeToLive: 200)
      rules.heuristic = heuristic
      let head = HTTP.ResponseHead(status: status, fields: fields)
      #expect(rules.freshnessLifetime(of: head, receivedAt: received).duration == .seconds(seconds), "\(heuristic)")
    }
  }

  /// Section 4.2.3: the age on arrival, `delay` seconds after the request.
  @Test(
    arguments: [
      ([:], 0, 0), ([:], 3, 3), (["Age": "10"], 0, 10), (["Age": "10"], 3, 13), (["Date": date(-20)], 3, 20),
      (["Date": date(-20), "Age": "10"], 3, 20), (["Date": date(-5), "Age": "10"], 3, 13), (["Date": date(20)], 0, 0),
      (["Date": date(20), "Age": "10"], 0, 10), (["Age": "10, 99"], 0, 10), (["Age": "10", "age": "99"], 0, 10),
      (["Age": "0, 10"], 0, 0), (["Age": "abc"], 0, 0), (["Age": "-10"], 0, 0), (["Age": "10.5"], 0, 0),
      (["Age": ""], 0, 0),
      (["Age": "abc, 10"], 0, 0), (["Age": "99999999999999999999"], 0, 2_147_483_648),
      (["Age": "99999999999999999999"], 5, 2_147_483_653), (["Date": "foo"], 2, 2),
      (["Date": "Sat, 01 Jan 0000 00:00:00 GMT"], 0, 63_962_474_400), (["Date": "Fri, 31 Dec 9999 23:59:59 GMT"], 1, 1),
      // The clock was set back between request and response.
      ([:], -100, 0), (["Age": "10"], -100, 10),
    ] as [(HTTP.Fields, Int, Int)])
  func isOldAtFirst(_ fields: HTTP.Fields, delay: Int, _ seconds: Int) {
    let age = HTTPCacheRules.testing().initialAge(
      of: HTTP.ResponseHead(status: 200, fields: fields), requestTime: received - .seconds(delay),
      responseTime: received
    )
    #expect(age == .seconds(seconds))
  }

  /// A response with an age of 10 seconds and a lifetime of 60.
  @Test(arguments: [
    (0, 10, 50), (1, 11, 49), (49, 59, 1), (50, 60, 0), (51, 61, -1), (5_000_000_000, 5_000_000_010, -4_999_999_950),
    // The clocks of machines that share a store differ a little. If a clock was set back further, the age is unknown.
    (-1, 10, 50), (-60, 10, 50), (-61, nil, nil), (-1_000_000, nil, nil),
  ])
  func agesWithTheClock(_ later: Int, age: Int?, remaining: Int?) throws {
    let stored = try #require(HTTPCacheRules.testing().stored(["Cache-Control": "max-age=60", "Age": "10"]))
    let now = received + .seconds(later)
    #expect(stored.age(at: now) == age.map { .seconds($0) })
    #expect(stored.remainingFreshness(at: now) == remaining.map { .seconds($0) })
    #expect(stored.freshUntil == received + .seconds(50))
  }

  @Test(arguments: ["Age": "99999999999999999999", "Date": "Sat, 01 Jan 0000 00:00:00 GMT"].map { ($0, $1) })
  func somethingAbsurdlyOldIsStale(_ name: String, _ value: String) throws {
    let fields = HTTP.Fields([.init(name, value), .init("Cache-Control", "max-age=99999999999")])
    let stored = try #require(HTTPCacheRules.testing().stored(fields))
    #expect(try #require(stored.remainingFreshness(at: received)) <= .zero)
    #expect(stored.retainUntil >= received)
  }
}
