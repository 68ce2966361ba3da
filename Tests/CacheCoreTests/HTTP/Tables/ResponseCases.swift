extension SuiteCase {
  private static let lasting: SuiteFields = ["Cache-Control": "max-age=10000", "Expires": 10000, "A": "1"]

  /// Response directives that are about more than freshness.
  static let responseDirectives: [SuiteCase] = [
    notReused(
      "cc-resp-private-shared", .required, ["Cache-Control": "private, max-age=3600"], pauses: false, for: .sharedCaches
    ),
    reused(
      "cc-resp-private-private", .optimal, ["Cache-Control": "private, max-age=3600"], pauses: false,
      for: .privateCaches),
    notReused("cc-resp-no-store", .required, ["Cache-Control": "no-store"], pauses: false),
    notReused("cc-resp-no-store-case-insensitive", .required, ["Cache-Control": "No-StOrE"], pauses: false),
    notReused(
      "cc-resp-no-store-fresh", .required, ["Cache-Control": "max-age=10000, no-store", "Expires": 10000], pauses: false
    ),
    afterNoStore("cc-resp-no-store-old-new", "no-store"),
    afterNoStore("cc-resp-no-store-old-max-age", "no-store, max-age=0"),
    notReused(
      "cc-resp-no-cache", .required, ["Cache-Control": "max-age=10000, no-cache", "Expires": 10000], pauses: false),
    notReused(
      "cc-resp-no-cache-case-insensitive", .required, ["Cache-Control": "max-age=10000, No-CaChE", "Expires": 10000],
      pauses: false),
    confirmed("cc-resp-no-cache-revalidate", ["Cache-Control": "no-cache", "ETag": "\"abcd\""]),
    confirmed(
      "cc-resp-no-cache-revalidate-fresh",
      ["Cache-Control": "max-age=10000, no-cache", "Expires": 10000, "ETag": "\"abcd\""]),
    SuiteCase(
      "headers-omit-headers-listed-in-Cache-Control-no-cache-single", .check,
      SuiteExchange(
        answer: ["Cache-Control": "no-cache=\"a\"", "a": "1", "b": "2", "Cache-Control": "max-age=3600"], pauses: true),
      SuiteExchange(expect: .cached, shows: ["b": "2"], lacks: ["a"])),
    SuiteCase(
      "headers-omit-headers-listed-in-Cache-Control-no-cache", .check,
      SuiteExchange(
        answer: ["Cache-Control": "no-cache=\"a, b\"", "a": "1", "b": "2", "c": "3", "Cache-Control": "max-age=3600"],
        pauses: true), SuiteExchange(expect: .cached, shows: ["c": "3"], lacks: ["a", "b"])),
    reused(
      "cc-resp-must-revalidate-fresh", .optimal,
      ["Cache-Control": "max-age=10000, must-revalidate", "ETag": "\"abcd\""], pauses: false),
    SuiteCase(
      "cc-resp-must-revalidate-stale", .required, SuiteExchange(answer: mustRevalidate),
      SuiteExchange(answer: mustRevalidate, expect: .cached, pauses: true), SuiteExchange(expect: .tagValidated)),
    SuiteCase(
      "cc-resp-immutable-fresh", .optimal, for: .privateCaches,
      SuiteExchange(answer: ["Cache-Control": "max-age=10000, immutable", "ETag": "\"abcd\""], pauses: true),
      SuiteExchange(ask: reload, expect: .cached)),
    SuiteCase(
      "cc-resp-immutable-stale", .required, for: .privateCaches,
      SuiteExchange(answer: ["Cache-Control": "max-age=2, immutable", "ETag": "\"abcd\""], pauses: true),
      SuiteExchange(ask: reload, expect: .tagValidated, originSees: ["Cache-Control": "max-age=0"])),
  ]

  private static let mustRevalidate: SuiteFields = [
    "Cache-Control": "max-age=2, must-revalidate", "ETag": "\"abcd\"",
  ]

  /// The field that a browser adds to reload a page.
  private static let reload: SuiteFields = ["Cache-Control": "max-age=0"]

  private static func confirmed(_ id: String, _ answer: SuiteFields) -> SuiteCase {
    SuiteCase(id, .optimal, SuiteExchange(answer: answer), SuiteExchange(expect: .tagValidated))
  }

  private static func afterNoStore(_ id: String, _ directives: String) -> SuiteCase {
    SuiteCase(
      id, .required, SuiteExchange(answer: lasting, pauses: true),
      SuiteExchange(answer: ["Cache-Control": .text(directives), "A": "2"], pauses: true),
      SuiteExchange(expect: .cached, shows: ["a": "1"]))
  }
}

extension SuiteCase {
  /// Which statuses are reused while fresh.
  static let statuses: [SuiteCase] =
    [
      200, 203, 204, 299, 301, 302, 303, 307, 308, 400, 404, 410, 499, 500, 502, 503, 504, 599,
    ].flatMap { [freshStatus($0), staleStatus($0)] } + [
      SuiteCase(
        "status-599-must-understand", .required,
        SuiteExchange(status: 599, answer: ["Cache-Control": "max-age=3600, no-store, must-understand"]),
        SuiteExchange(expect: .notCached)),
      SuiteCase(
        "status-200-must-understand", .optimal,
        SuiteExchange(status: 200, answer: ["Cache-Control": "max-age=3600, no-store, must-understand"]),
        SuiteExchange(expect: .cached)),
    ]

  private static func freshStatus(_ status: Int) -> SuiteCase {
    let body = content(status)
    var first = SuiteExchange.fresh()
    first.status = status
    first.body = body
    return SuiteCase(
      "status-\(status)-fresh", .optimal, for: audience(status), first,
      SuiteExchange(status: status, body: body, expect: .cached))
  }

  private static func staleStatus(_ status: Int) -> SuiteCase {
    SuiteCase(
      "status-\(status)-stale", .required, for: audience(status), .stale(status: status, body: content(status)),
      SuiteExchange(body: content(status), expect: .notCached))
  }

  private static func content(_ status: Int) -> String? { status == 204 ? nil : "content of \(status)" }

  /// Browsers follow redirects before a page sees them.
  private static func audience(_ status: Int) -> Audience { (300..<400).contains(status) ? .sharedCaches : .everybody }
}

extension SuiteCase {
  /// Which fields of a response are stored.
  static let storedFields: [SuiteCase] =
    [
      SuiteCase(
        "headers-omit-headers-listed-in-Connection", .required,
        .fresh(["Connection": .loose("a, b"), "a": .loose("1"), "b": .loose("2"), "c": .loose("3")]),
        SuiteExchange(expect: .cached, shows: ["c": "3"], lacks: ["a", "b"]))
    ] + FieldSample.all.map(storing)

  /// Changes of the stored response by a 304.
  static let updates: [SuiteCase] =
    [
      SuiteCase(
        "304-lm-use-stored-Test-Header", .required,
        SuiteExchange(
          answer: ["Cache-Control": "max-age=2", "Last-Modified": lastChange, "Test-Header": "kept"], pauses: true),
        SuiteExchange(answer: ["Last-Modified": lastChange], expect: .dateValidated, shows: ["Test-Header": "kept"]))
    ] + FieldSample.all.filter(\.isStored).map(updating)

  private static let lastChange: SuiteFields.Value = "Wed, 01 Jan 2020 00:00:00 GMT"

  private static func storing(_ field: FieldSample) -> SuiteCase {
    let value: SuiteFields.Value = field.isStored ? .text(field.second) : .loose(field.second)
    var answer: SuiteFields = [field.name: value]
    if field.name != "Cache-Control" { answer.append("Cache-Control", "max-age=3600") }
    let text: SuiteExchange.ExpectedText = field.hasContent ? .scripted : .any
    return SuiteCase(
      "headers-store-\(field.name)", .required, SuiteExchange(answer: answer, text: text, pauses: true),
      SuiteExchange(
        expect: .cached, text: text, shows: field.isStored ? [field.name: value] : [:],
        lacks: field.isStored ? [] : [field.name]))
  }

  private static func updating(_ field: FieldSample) -> SuiteCase {
    let expected = field.updating == .forbidden ? field.first : field.second
    let text: SuiteExchange.ExpectedText = field.hasContent ? .scripted : .any
    let shown: SuiteFields = [field.name: .text(expected)]
    return SuiteCase(
      "304-etag-update-response-\(field.name)", field.updating == .asked ? .check : .required,
      SuiteExchange(answer: answer(field, field.first), text: text, pauses: true),
      SuiteExchange(answer: answer(field, field.second), expect: .tagValidated, text: text, shows: shown),
      SuiteExchange(expect: .cached, text: text, shows: shown))
  }

  private static func answer(_ field: FieldSample, _ value: String) -> SuiteFields {
    var answer: SuiteFields = [field.name: field.updating == .forbidden ? .loose(value) : .text(value)]
    if field.name != "Cache-Control" { answer.append("Cache-Control", "max-age=2") }
    if field.name != "ETag" { answer.append("ETag", .text("\"tag of \(field.name)\"")) }
    return answer
  }
}

/// A field whose storage and update the suite checks, with two values for it.
struct FieldSample: Sendable {
  let name: String
  let first: String
  let second: String
  /// Whether a cache stores the field.
  let isStored: Bool
  /// The result that the suite expects of a cache if a 304 has the field.
  let updating: Updating

  enum Updating: Sendable { case required, asked, forbidden }

  private init(
    _ name: String, _ first: String? = nil, _ second: String? = nil, isStored: Bool = true, updating: Updating = .asked
  ) {
    self.name = name
    self.first = first ?? "first-\(name)"
    self.second = second ?? "second-\(name)"
    self.isStored = isStored
    self.updating = updating
  }

  /// Whether the content fits the field: an invented length would cut it short.
  var hasContent: Bool { name != "Content-Length" }

  static let all: [FieldSample] = [
    FieldSample("Test-Header", updating: .required), FieldSample("X-Test-Header", updating: .required),
    FieldSample("Content-Foo", updating: .required), FieldSample("X-Content-Foo", updating: .required),
    FieldSample("Cache-Control", "max-age=1", "max-age=3600", updating: .required),
    FieldSample("Connection", isStored: false), FieldSample("Content-Encoding"),
    FieldSample("Content-Length", "5", "10", updating: .forbidden), FieldSample("Content-Location", "/foo", "/bar"),
    FieldSample("Content-MD5", "rL0Y20zC+Fzt72VPzMSk2A==", "N7UdGUp1E+RbVvZSTy1R8g=="), FieldSample("Content-Range"),
    FieldSample("Content-Security-Policy", "default-src 'self'", "default-src 'self' cdn.example.com"),
    FieldSample("Content-Type", "text/plain", "text/plain;charset=utf-8"),
    FieldSample("Clear-Site-Data", "cache", "cookies"), FieldSample("ETag", "\"abcdef\"", "\"ghijkl\""),
    FieldSample("Expires", "Fri, 01 Jan 2038 01:01:01 GMT", "Mon, 11 Jan 2038 11:11:11 GMT"),
    FieldSample("Keep-Alive", isStored: false), FieldSample("Proxy-Authenticate", isStored: false),
    FieldSample("Proxy-Authentication-Info", isStored: false), FieldSample("Proxy-Authorization", isStored: false),
    FieldSample("Proxy-Connection", isStored: false), FieldSample("Public-Key-Pins"),
    FieldSample("Set-Cookie", "a=b", "a=c"), FieldSample("Set-Cookie2", "a=b", "a=c"),
    FieldSample("TE", isStored: false), FieldSample("Transfer-Encoding", isStored: false),
    FieldSample("Upgrade", isStored: false), FieldSample("X-Frame-Options", "deny", "sameorigin"),
    FieldSample("X-XSS-Protection", "1", "1; mode=block"),
  ]
}

extension SuiteCase {
  /// The use of stale responses.
  static let stale: [SuiteCase] = [
    SuiteCase("stale-close", .check, .becomesStale(), SuiteExchange(disconnects: true, expect: .cached)),
    SuiteCase("stale-503", .check, .becomesStale(), SuiteExchange(status: 503, expect: .cached, expectStatus: 200)),
    SuiteCase(
      "stale-while-revalidate", .optimal,
      SuiteExchange(
        answer: ["Cache-Control": "max-age=1, stale-while-revalidate=3600", "ETag": "\"abc\""], pauses: true),
      SuiteExchange(expect: .cached)),
    SuiteCase(
      "stale-while-revalidate-window", .required,
      SuiteExchange(answer: ["Cache-Control": "max-age=1, stale-while-revalidate=4", "ETag": "\"abc\""], pauses: true),
      SuiteExchange(
        answer: ["Cache-Control": .loose("no-cache"), "ETag": .loose("\"def\"")], expect: .cached, pauses: true),
      SuiteExchange(shows: ["client-request-count": "3"])),
    standingIn("stale-sie-close"),
    // The suite breaks the connection off here too.
    standingIn("stale-sie-503"),
    forbidden("must-revalidate"),
    forbidden("proxy-revalidate", for: .sharedCaches),
    forbidden("no-cache"),
    forbidden("s-maxage", "=2", for: .sharedCaches),
    SuiteCase(
      "stale-warning-stored", .check, .stale(),
      SuiteExchange(disconnects: true, expect: .cached, shows: ["Warning": .present])),
    SuiteCase(
      "stale-warning-become", .check, .becomesStale(),
      SuiteExchange(disconnects: true, expect: .cached, shows: ["Warning": .present])),
  ]

  private static func standingIn(_ id: String) -> SuiteCase {
    SuiteCase(
      id, .check, SuiteExchange(answer: ["Cache-Control": "max-age=2, stale-if-error=60"], pauses: true),
      SuiteExchange(disconnects: true, expect: .cached))
  }

  private static func forbidden(
    _ directive: String, _ argument: String = "", for audience: Audience = .everybody
  ) -> SuiteCase {
    SuiteCase(
      "stale-close-\(directive)\(argument)", .required, for: audience,
      SuiteExchange(answer: ["Cache-Control": .text("max-age=2, \(directive)\(argument)")], pauses: true),
      SuiteExchange(disconnects: true, expectStatus: .any, text: .any, lacks: ["server-request-count"]))
  }
}
