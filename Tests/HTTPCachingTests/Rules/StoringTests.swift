import Testing

@testable import HTTPCaching

/// RFC 9111, section 3.
struct StoringTests {
  /// A response to a request, and whether a private and a shared cache store it.
  struct Row: Sendable, CustomStringConvertible {
    let status: Int
    let response: HTTP.Fields
    let request: HTTP.Fields
    let method: String
    let isKeptPrivately: Bool
    let isKeptShared: Bool

    init(
      _ status: Int = 200, _ response: HTTP.Fields = [:], for request: HTTP.Fields = [:], method: String = "GET",
      _ isKeptPrivately: Bool, _ isKeptShared: Bool
    ) {
      self.status = status
      self.response = response
      self.request = request
      self.method = method
      self.isKeptPrivately = isKeptPrivately
      self.isKeptShared = isKeptShared
    }

    var description: String { "\(method) [\(request.text)] -> \(status) [\(response.text)]" }
  }

  private static func control(_ value: String) -> HTTP.Fields { ["Cache-Control": value] }
  private static let credentials: HTTP.Fields = ["Authorization": "Bearer x"]

  static let directives: [Row] = [
    Row(200, control("max-age=60"), true, true), Row(200, control("no-store"), false, false),
    Row(200, control("No-StOrE"), false, false), Row(200, control("max-age=60, no-store"), false, false),
    Row(200, ["Cache-Control": "max-age=60", "cache-control": "no-store"], false, false),
    Row(200, control("x=\"no-store\""), true, true), Row(200, control("public, no-store"), false, false),
    Row(200, control("no-cache"), true, true), Row(200, control("private"), true, false),
    Row(200, control("PRIVATE, max-age=60"), true, false), Row(200, control("private, public"), true, false),
    Row(200, control("private=\"Set-Cookie\""), true, true), Row(200, control("private=set-cookie"), true, true),
    Row(200, control("private=\"\""), true, false), Row(200, control("private=\"a\", private"), true, false),
    Row(200, ["Pragma": "no-cache"], true, true), Row(200, ["Set-Cookie": "a=b"], true, true),
    Row(200, ["Content-Disposition": "attachment"], true, true),
    Row(200, ["Content-Type": "text/event-stream"], false, false),
    Row(200, ["Content-Type": "Text/Event-Stream ;charset=utf-8", "Cache-Control": "no-cache"], false, false),
    Row(200, ["Content-Type": "text/event-stream", "Cache-Control": "max-age=60"], true, true),
    Row(200, ["Content-Type": "text/event-stream", "Expires": date(60)], true, true),
    Row(200, ["Content-Type": "text/event-streams"], true, true),
    Row(200, [:], for: control("no-store"), false, false), Row(200, [:], for: control("no-cache"), true, true),
    Row(200, [:], for: ["Pragma": "no-cache"], true, true), Row(200, [:], for: ["Cookie": "a=b"], true, false),
  ]

  static let statuses: [Row] =
    [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501].map { Row($0, [:], true, true) }
    + [201, 202, 299, 302, 303, 307, 400, 401, 403, 429, 499, 500, 502, 503, 504, 599].flatMap { status in
      [
        Row(status, [:], false, false), Row(status, control("max-age=0"), true, true),
        Row(status, ["Expires": "0"], true, true), Row(status, control("public"), true, true),
        Row(status, control("private"), true, false), Row(status, control("s-maxage=5"), false, true),
        Row(status, control("no-cache"), false, false), Row(status, ["Last-Modified": date(-9)], false, false),
      ]
    }
    // These statuses say nothing about the URL alone: they are interim, or results of a condition or a range.
    + [100, 103, 199, 304, 412, 416].map { Row($0, control("public, max-age=60"), false, false) }

  static let understanding: [Row] = [
    Row(200, control("must-understand, no-store"), true, true), Row(404, control("must-understand"), true, true),
    Row(599, control("must-understand, max-age=60"), false, false),
    Row(202, control("must-understand, public"), false, false),
    Row(599, control("must-understand, no-store, max-age=60"), false, false),
  ]

  static let partial: [Row] = [
    Row(206, ["Content-Range": "bytes 0-4/10"], true, true),
    Row(206, ["Content-Range": "bytes 0-4/10", "Cache-Control": "no-store"], false, false),
    Row(206, control("max-age=60"), false, false), Row(206, ["Content-Range": "bytes 0-4/*"], false, false),
    Row(206, ["Content-Range": "items 0-4/10"], false, false),
    Row(206, ["Content-Type": "multipart/byteranges; boundary=x", "Cache-Control": "max-age=60"], false, false),
  ]

  static let authorization: [Row] = [
    Row(200, [:], for: credentials, true, false), Row(200, control("max-age=60"), for: credentials, true, false),
    Row(200, ["Expires": date(60)], for: credentials, true, false),
    Row(200, control("public"), for: credentials, true, true),
    Row(200, control("must-revalidate"), for: credentials, true, true),
    Row(200, control("s-maxage=60"), for: credentials, true, true),
    Row(200, control("proxy-revalidate"), for: credentials, true, false),
    Row(200, control("no-cache"), for: credentials, true, false),
    Row(200, control("private, s-maxage=60"), for: credentials, true, false),
    Row(200, ["CDN-Cache-Control": "public"], for: credentials, true, true),
    Row(200, ["CDN-Cache-Control": "max-age=60", "Cache-Control": "public"], for: credentials, true, false),
  ]

  static let targeted: [Row] = [
    Row(200, ["CDN-Cache-Control": "no-store", "Cache-Control": "max-age=60"], true, false),
    Row(200, ["CDN-Cache-Control": "max-age=60", "Cache-Control": "no-store"], false, true),
    Row(200, ["CDN-Cache-Control": "private", "Cache-Control": "max-age=60"], true, false),
    Row(200, ["CDN-Cache-Control": "private=?1", "Cache-Control": "max-age=60"], true, false),
    Row(200, ["CDN-Cache-Control": "max-age=60, &&&&&", "Cache-Control": "no-store"], false, false),
    Row(200, ["CDN-Cache-Control": "", "Cache-Control": "no-store"], false, false),
    Row(599, ["CDN-Cache-Control": "max-age=60"], false, true),
    Row(599, ["CDN-Cache-Control": "s-maxage=60"], false, true),
    // With directives for shared caches, `Expires` is ignored.
    Row(599, ["CDN-Cache-Control": "x", "Expires": date(60)], true, false),
  ]

  static let methods: [Row] =
    ["HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "QUERY", "get"].map {
      Row(200, control("public, max-age=60"), method: $0, false, false)
    }

  /// RFC 9110, section 9.3.3.
  static let posts: [Row] = [
    Row(200, ["Cache-Control": "max-age=60", "Content-Location": "/x"], method: "POST", true, true),
    Row(
      200, ["Cache-Control": "s-maxage=60", "Content-Location": "http://example.com/x"], method: "POST", false, true),
    Row(200, ["Expires": date(60), "Content-Location": "/x"], method: "POST", true, true),
    Row(200, ["Cache-Control": "public", "Content-Location": "/x"], method: "POST", false, false),
    Row(200, ["Cache-Control": "max-age=60", "Content-Location": "/other"], method: "POST", false, false),
    Row(201, ["Cache-Control": "max-age=60", "Content-Location": "/x"], method: "POST", false, false),
    Row(200, ["Cache-Control": "max-age=60", "Content-Location": "/x"], method: "PUT", false, false),
  ]

  static let variants: [Row] = [
    Row(200, ["Vary": "Accept"], true, true), Row(200, ["Vary": ""], true, true), Row(200, ["Vary": "*"], false, false),
    Row(200, ["Vary": "Accept, *"], false, false), Row(200, ["Vary": ", *"], false, false),
    Row(200, ["Vary": "Accept", "vary": "*"], false, false), Row(200, ["Vary": "*, *"], false, false),
  ]

  @Test(
    arguments: directives + statuses + understanding + partial + authorization + targeted + methods + posts + variants)
  func stores(_ row: Row) {
    for (isShared, isKept) in [(false, row.isKeptPrivately), (true, row.isKeptShared)] {
      let rules = HTTPCacheRules.testing(isShared: isShared)
      let stored = rules.stored(row.response, status: row.status, for: row.request, method: row.method)
      #expect((stored != nil) == isKept, "shared: \(isShared)")
      if let stored { #expect(stored.head.status == row.status) }
    }
  }

  /// Section 3.1: which header fields are stored.
  @Test(
    arguments: [
      (["A": "1", "Set-Cookie": "a=b", "X-Frame-Options": "deny"], ["A", "Set-Cookie", "X-Frame-Options"], nil),
      (["Connection": "a, close", "A": "1", "B": "2"], ["B"], nil),
      (
        [
          "Keep-Alive": "1", "TE": "x", "Transfer-Encoding": "chunked", "Upgrade": "h2c", "Proxy-Authenticate": "x",
          "Proxy-Authentication-Info": "x", "Proxy-Authorization": "x", "Proxy-Connection": "x", "B": "2",
        ], ["B"], nil
      ),
      (
        ["Cache-Control": "private=\"A, c\"", "a": "1", "B": "2", "C": "3"], ["Cache-Control", "a", "B", "C"],
        ["Cache-Control", "B"]
      ),
      (["Cache-Control": "no-cache=\"A\"", "a": "1", "B": "2"], ["Cache-Control", "B"], nil),
      (["CDN-Cache-Control": "private=\"a\"", "a": "1"], ["CDN-Cache-Control", "a"], ["CDN-Cache-Control"]),
    ] as [(HTTP.Fields, [String], [String]?)])
  func keeps(_ fields: HTTP.Fields, _ names: [String], inShared sharedNames: [String]?) {
    for (isShared, names) in [(false, names), (true, sharedNames ?? names)] {
      let stored = HTTPCacheRules.testing(isShared: isShared).stored(fields)
      #expect(stored?.head.fields.lines.map(\.name) == names + ["Date"], "shared: \(isShared)")
    }
  }

  /// RFC 9110, section 6.6.1: a response without a date gets the time at which it was received, by a 304 too. A response
  /// that did not come over HTTP has no fields that nobody gave it.
  @Test func aResponseWithoutADateGetsOne() throws {
    let rules = HTTPCacheRules.testing()
    let stored = try #require(rules.stored(["A": "1"], at: received + .seconds(5)))
    #expect(stored.head.fields == ["A": "1", "Date": date(5)])
    #expect(rules.stored(["date": date(-3)])?.head.fields == ["date": date(-3)])
    let confirmed = rules.updated(
      stored, by: HTTP.ResponseHead(status: 304), requestTime: received, responseTime: received + .seconds(9))
    #expect(confirmed.head.fields == ["A": "1", "Date": date(9)])
    let other = rules.stored(
      HTTP.ResponseHead(status: 200), for: HTTP.Request(url: "sample:cities"), requestTime: received,
      responseTime: received)
    #expect(other?.head.fields == [:])
  }

  /// Such a response is not passed on to other callers that wait for it.
  @Test(
    arguments: [
      (["Cache-Control": "max-age=60", "Connection": "keep-alive"], false, false),
      (["Cache-Control": "max-age=60, no-cache=\"Set-Cookie\"", "Set-Cookie": "a=1"], true, true),
      (["Cache-Control": "max-age=60, private=\"Set-Cookie\"", "Set-Cookie": "a=1"], false, true),
    ] as [(HTTP.Fields, Bool, Bool)])
  func hasFieldsOfOneUse(_ fields: HTTP.Fields, inPrivate: Bool, inShared: Bool) {
    #expect(HTTPCacheRules.testing(isShared: false).hasFieldsOfOneUse(fields) == inPrivate)
    #expect(HTTPCacheRules.testing(isShared: true).hasFieldsOfOneUse(fields) == inShared)
  }

  /// A stale response is kept as long as it may be used.
  @Test(arguments: [
    ("max-age=60", 0, 0, 60), ("max-age=60", 300, 0, 360), ("max-age=60", 0, 30, 90), ("max-age=60", 300, 900, 960),
    ("max-age=60, stale-if-error=100", 5, 5, 160), ("max-age=60, stale-while-revalidate=100", 5, 5, 160),
    ("max-age=0", 300, 0, 300), ("no-cache", 300, 0, 300), ("max-age=60, stale-if-error=0", 300, 0, 360),
  ])
  func keepsFor(_ control: String, staleIfError: Int, staleWhileRevalidate: Int, _ seconds: Int) {
    let rules = HTTPCacheRules.testing(staleIfError: staleIfError, staleWhileRevalidate: staleWhileRevalidate)
    #expect(rules.stored(["Cache-Control": control])?.retainUntil == received + .seconds(seconds))
  }
}
