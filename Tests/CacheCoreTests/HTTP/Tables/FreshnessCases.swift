extension SuiteCase {
  /// How long a response with `Cache-Control` is fresh.
  static let cacheControlFreshness: [SuiteCase] = [
    notReused("freshness-none", .check, [:]),
    reused("freshness-max-age", .optimal, ["Cache-Control": "max-age=3600"]),
    SuiteCase("freshness-max-age-stale", .required, .becomesStale(), SuiteExchange(expect: .notCached)),
    notReused("freshness-max-age-0", .required, ["Cache-Control": "max-age=0"]),
    reused("freshness-max-age-max-minus-1", .optimal, ["Cache-Control": "max-age=2147483647"]),
    reused("freshness-max-age-max", .optimal, ["Cache-Control": "max-age=2147483648"]),
    reused("freshness-max-age-max-plus-1", .optimal, ["Cache-Control": "max-age=2147483649"]),
    reused("freshness-max-age-max-plus", .optimal, ["Cache-Control": "max-age=99999999999"]),
    notReused("freshness-max-age-age", .required, ["Cache-Control": "max-age=3600", "Age": "7200"]),
    notReused("freshness-max-age-date", .check, ["Date": -7200, "Cache-Control": "max-age=3600"]),
    reused("freshness-max-age-expires", .optimal, ["Cache-Control": "max-age=3600", "Expires": -7200]),
    reused("freshness-max-age-expires-invalid", .optimal, ["Cache-Control": "max-age=3600", "Expires": .loose("0")]),
    notReused("freshness-max-age-0-expires", .required, ["Expires": 3600, "Cache-Control": "max-age=0"]),
    reused("freshness-max-age-extension", .optimal, ["Cache-Control": "foobar, max-age=3600"]),
    reused("freshness-max-age-case-insenstive", .optimal, ["Cache-Control": "MaX-aGe=3600"]),
    notReused("freshness-max-age-negative", .required, ["Cache-Control": "max-age=-3600"]),
    notReused(
      "freshness-max-age-s-maxage-private", .required, ["Cache-Control": "s-maxage=3600, max-age=1"],
      for: .privateCaches),
    notReused(
      "freshness-max-age-s-maxage-private-multiple", .required,
      ["Cache-Control": "s-maxage=3600", "Cache-Control": "max-age=1"], for: .privateCaches),
    reused("freshness-s-maxage-shared", .required, ["Cache-Control": "s-maxage=3600"], for: .sharedCaches),
    notReused(
      "freshness-max-age-s-maxage-shared-longer", .required, ["Cache-Control": "max-age=3600, s-maxage=1"],
      for: .sharedCaches),
    notReused(
      "freshness-max-age-s-maxage-shared-longer-reversed", .required, ["Cache-Control": "s-maxage=1, max-age=3600"],
      for: .sharedCaches),
    notReused(
      "freshness-max-age-s-maxage-shared-longer-multiple", .required,
      ["Cache-Control": "max-age=3600", "Cache-Control": "s-maxage=1"], for: .sharedCaches),
    reused(
      "freshness-max-age-s-maxage-shared-shorter", .optimal, ["Cache-Control": "max-age=1, s-maxage=3600"],
      for: .sharedCaches),
    reused(
      "freshness-max-age-s-maxage-shared-shorter-expires", .optimal,
      ["Expires": -10, "Cache-Control": "max-age=0, s-maxage=3600"], for: .sharedCaches),
  ]
}

extension SuiteCase {
  /// How the cache treats an unusually written `Cache-Control`.
  static let cacheControlParsing: [SuiteCase] = [
    reused("freshness-max-age-two-fresh-stale-sameline", .check, ["Cache-Control": .loose("max-age=1800, max-age=1")]),
    reused(
      "freshness-max-age-two-fresh-stale-sepline", .check,
      ["Cache-Control": .loose("max-age=1800"), "Cache-Control": .loose("max-age=1")]),
    reused("freshness-max-age-two-stale-fresh-sameline", .check, ["Cache-Control": .loose("max-age=1, max-age=1800")]),
    reused(
      "freshness-max-age-two-stale-fresh-sepline", .check,
      ["Cache-Control": .loose("max-age=1"), "Cache-Control": .loose("max-age=1800")]),
    reused("freshness-max-age-quoted", .check, ["Cache-Control": .loose("max-age=\"3600\"")]),
    notReused(
      "freshness-max-age-ignore-quoted", .required, ["Cache-Control": .loose("extension=\"max-age=3600\", max-age=1")]),
    notReused(
      "freshness-max-age-ignore-quoted-rev", .required,
      ["Cache-Control": .loose("max-age=1, extension=\"max-age=3600\"")]),
    notReused("freshness-max-age-space-before-equals", .check, ["Cache-Control": .loose("max-age =3600")]),
    notReused("freshness-max-age-space-after-equals", .check, ["Cache-Control": .loose("max-age= 3600")]),
    reused("freshness-max-age-leading-zero", .required, ["Cache-Control": .loose("max-age=003600")]),
    notReused("freshness-max-age-single-quoted", .required, ["Cache-Control": .loose("max-age='3600'")]),
    reused("freshness-max-age-decimal-zero", .check, ["Cache-Control": .loose("max-age=3600.0")]),
    reused("freshness-max-age-decimal-five", .check, ["Cache-Control": .loose("max-age=3600.5")]),
    reused("freshness-max-age-a100", .check, ["Cache-Control": .loose("max-age=a3600")]),
    reused("freshness-max-age-100a", .check, ["Cache-Control": .loose("max-age=3600a")]),
  ]
}

extension SuiteCase {
  /// How the cache treats an `Age` in a response that is fresh for an hour.
  static let ageParsing: [SuiteCase] = [
    fresh("age-parse-nonnumeric", ["Age": .loose("abc")]),
    fresh("age-parse-negative", ["Age": .loose("-7200")]),
    fresh("age-parse-float", ["Age": .loose("7200.0")]),
    old("age-parse-large-minus-one", ["Age": .loose("2147483647")]),
    old("age-parse-large", ["Age": .loose("2147483648")]),
    old("age-parse-larger", ["Age": .loose("2147483649")]),
    old("age-parse-suffix", ["Age": .loose("7200, 0")]),
    fresh("age-parse-prefix", ["Age": .loose("0, 7200")]),
    old("age-parse-suffix-twoline", ["Age": .loose("7200"), "Age": .loose("0")]),
    fresh("age-parse-prefix-twoline", ["Age": .loose("0"), "Age": .loose("7200")]),
    fresh("age-parse-dup-0", ["Age": .loose("0, 0")]),
    fresh("age-parse-dup-0-twoline", ["Age": .loose("0"), "Age": .loose("0")]),
    reused(
      "age-parse-dup-old", .required, ["Cache-Control": "max-age=10000", "Age": .loose("3600"), "Age": .loose("3600")]),
    old("age-parse-parameter", ["Age": .loose("7200;foo=bar")], .check),
    old("age-parse-numeric-parameter", ["Age": .loose("7200;foo=111")], .check),
  ]

  private static func fresh(_ id: String, _ age: SuiteFields) -> SuiteCase {
    reused(id, .required, ["Cache-Control": "max-age=3600"] + age)
  }

  private static func old(_ id: String, _ age: SuiteFields, _ kind: Kind = .required) -> SuiteCase {
    notReused(id, kind, ["Cache-Control": "max-age=3600"] + age)
  }
}

extension SuiteCase {
  private static let month: SuiteFields.Value = 2_592_000

  /// How long a response with `Expires` is fresh.
  static let expiresFreshness: [SuiteCase] = [
    reused("freshness-expires-future", .optimal, ["Expires": month]),
    notReused("freshness-expires-past", .required, ["Expires": -2_592_000]),
    notReused("freshness-expires-present", .required, ["Expires": 0], pauses: false),
    notReused("freshness-expires-old-date", .required, ["Expires": 300, "Date": 400]),
    notReused("freshness-expires-invalid", .required, ["Expires": .loose("0")]),
    reused("freshness-expires-invalid-date", .optimal, ["Date": .loose("foo"), "Expires": 10], pauses: false),
    notReused("freshness-expires-age-slow-date", .required, ["Date": -10, "Expires": 10, "Age": "25"], pauses: false),
    notReused("freshness-expires-age-fast-date", .required, ["Date": 10, "Expires": 20, "Age": "15"], pauses: false),
  ]

  /// How the cache treats the various forms of `Expires`.
  static let expiresParsing: [SuiteCase] = [
    dated("freshness-expires-32bit", "Tue, 19 Jan 2038 14:14:08 GMT"),
    dated("freshness-expires-far-future", "Sun, 21 Nov 2286 04:46:39 GMT"),
    dated("freshness-expires-rfc850", "Thursday, 18-Aug-50 02:01:18 GMT"),
    dated("freshness-expires-ansi-c", "Thu Aug  8 02:01:18 2050"),
    dated("freshness-expires-wrong-case-weekday", "THU, 18 Aug 2050 02:01:18 GMT"),
    dated("freshness-expires-wrong-case-month", "Thu, 18 AUG 2050 02:01:18 GMT"),
    dated("freshness-expires-wrong-case-tz", "Thu, 18 Aug 2050 02:01:18 gMT"),
    undated("freshness-expires-invalid-utc", "Thu, 18 Aug 2050 02:01:18 UTC"),
    undated("freshness-expires-invalid-aest", "Thu, 18 Aug 2050 02:01:18 AEST"),
    undated("freshness-expires-invalid-2-digit-year", "Thu, 18 Aug 50 02:01:18 GMT"),
    undated("freshness-expires-invalid-no-comma", "Thu 18 Aug 2050 02:01:18 GMT"),
    undated("freshness-expires-invalid-multiple-spaces", "Thu, 18  Aug  2050 02:01:18 GMT"),
    undated("freshness-expires-invalid-date-dashes", "Thu, 18-Aug-2050 02:01:18 GMT"),
    undated("freshness-expires-invalid-time-periods", "Thu, 18 Aug 2050 02.01.18 GMT"),
    undated("freshness-expires-invalid-1-digit-hour", "Thu, 18 Aug 2050 2:01:18 GMT"),
    notReused(
      "freshness-expires-invalid-multiple-lines", .required,
      ["Expires": .loose("Thu, 18 Aug 2050 2:01:18 GMT"), "Expires": .loose("Thu, 18 Aug 2050 2:01:19 GMT")],
      pauses: false),
  ]

  private static func dated(_ id: String, _ expires: String) -> SuiteCase {
    reused(id, .optimal, ["Expires": .loose(expires)])
  }

  private static func undated(_ id: String, _ expires: String) -> SuiteCase {
    notReused(id, .required, ["Expires": .loose(expires)])
  }
}

extension SuiteCase {
  /// Heuristic freshness, from the age of a response without a lifetime.
  static let heuristics: [SuiteCase] =
    [200, 203, 204, 404, 405, 410, 414, 501].map { guessed($0) }
    + [201, 202, 403, 502, 503, 504, 599].map { notGuessed($0) } + [guessed(599, ["Cache-Control": "public"])]
    + [5, 10, 30, 60, 300, 600, 1200, 1800, 3600, 43_200, 86_400].map { seconds in
      reused("heuristic-delta-\(seconds)", .check, ["Last-Modified": .date(-seconds)])
    }

  private static func guessed(_ status: Int, _ fields: SuiteFields = [:]) -> SuiteCase {
    twice("heuristic-\(status)-cached", .optimal, status, fields, .cached)
  }

  private static func notGuessed(_ status: Int) -> SuiteCase {
    twice("heuristic-\(status)-not_cached", .required, status, [:], .notCached)
  }

  private static func twice(
    _ id: String, _ kind: Kind, _ status: Int, _ fields: SuiteFields, _ expected: SuiteExchange.Provenance
  ) -> SuiteCase {
    let body = status == 204 ? nil : "content of \(status)"
    return SuiteCase(
      id, kind, SuiteExchange(status: status, answer: ["Last-Modified": -86_400] + fields, body: body),
      SuiteExchange(status: status, body: body, expect: expected))
  }
}

extension SuiteCase {
  /// `CDN-Cache-Control`, in shared caches.
  static let targetedControl: [SuiteCase] = [
    stored("cdn-max-age", .optimal, ["CDN-Cache-Control": .loose("max-age=3600")]),
    stored("cdn-max-age-max", .optimal, ["CDN-Cache-Control": .loose("max-age=2147483648")]),
    stored("cdn-max-age-max-plus", .optimal, ["CDN-Cache-Control": .loose("max-age=99999999999")]),
    unusable("cdn-max-age-age", .required, ["CDN-Cache-Control": .loose("max-age=3600"), "Age": "7200"]),
    unusable(
      "cdn-max-age-space-before-equals", .check,
      ["Cache-Control": "max-age=1", "CDN-Cache-Control": .loose("max-age =100")]),
    unusable(
      "cdn-max-age-space-after-equals", .check,
      ["Cache-Control": "max-age=1", "CDN-Cache-Control": .loose("max-age= 100")]),
    unusable("cdn-max-age-0", .required, ["CDN-Cache-Control": .loose("max-age=0")]),
    stored("cdn-max-age-extension", .optimal, ["CDN-Cache-Control": .loose("foobar, max-age=3600")]),
    stored("cdn-max-age-case-insensitive", .check, ["CDN-Cache-Control": .loose("MaX-aGe=3600")]),
    stored("cdn-max-age-expires", .optimal, ["CDN-Cache-Control": .loose("max-age=3600"), "Expires": -10000]),
    stored(
      "cdn-max-age-cc-max-age-invalid-expires", .optimal,
      ["CDN-Cache-Control": .loose("max-age=3600"), "Expires": .loose("0")]),
    unusable("cdn-max-age-0-expires", .required, ["CDN-Cache-Control": .loose("max-age=0"), "Expires": 10000]),
    stored(
      "cdn-max-age-short-cc-max-age", .optimal,
      ["Cache-Control": "max-age=1", "CDN-Cache-Control": .loose("max-age=3600")]),
    unusable(
      "cdn-max-age-long-cc-max-age", .required,
      ["Cache-Control": "max-age=3600", "CDN-Cache-Control": .loose("max-age=1")]),
    unusable(
      "cdn-private", .required, ["CDN-Cache-Control": "private", "Cache-Control": "max-age=10000", "Expires": 10000],
      pauses: false),
    unusable(
      "cdn-no-cache", .required, ["CDN-Cache-Control": "no-cache", "Cache-Control": "max-age=10000", "Expires": 10000],
      pauses: false),
    unusable(
      "cdn-no-store-cc-fresh", .required,
      ["Cache-Control": "max-age=10000", "CDN-Cache-Control": .loose("no-store"), "Expires": 10000]),
    stored(
      "cdn-fresh-cc-nostore", .required, ["Cache-Control": "no-store", "CDN-Cache-Control": .loose("max-age=10000")]),
    unusable(
      "cdn-cc-invalid-sh-type-unknown", .required,
      ["CDN-Cache-Control": .loose("max-age=10000, &&&&&"), "Cache-Control": "no-store"]),
    unusable(
      "cdn-cc-invalid-sh-type-wrong", .required,
      ["CDN-Cache-Control": .loose("max-age=\"10000\""), "Cache-Control": "no-store"]),
    SuiteCase(
      "cdn-remove-header", .check, for: .sharedCaches,
      SuiteExchange(
        answer: ["Cache-Control": "max-age=10000", "CDN-Cache-Control": .loose("foo"), "Expires": 10000],
        shows: ["CDN-Cache-Control": "foo"])),
    outliving("cdn-remove-age-exceed", [:], ["Age": .present]),
    outliving("cdn-date-update-exceed", [:], ["Date": 0]),
    outliving("cdn-expires-update-exceed", ["Expires": 1], ["Expires": 1]),
  ]

  private static func stored(_ id: String, _ kind: Kind, _ answer: SuiteFields) -> SuiteCase {
    reused(id, kind, answer, for: .sharedCaches)
  }

  private static func unusable(_ id: String, _ kind: Kind, _ answer: SuiteFields, pauses: Bool = true) -> SuiteCase {
    notReused(id, kind, answer, pauses: pauses, for: .sharedCaches)
  }

  /// A response that only this field keeps fresh shows what `shown` says.
  private static func outliving(_ id: String, _ more: SuiteFields, _ shown: SuiteFields) -> SuiteCase {
    SuiteCase(
      id, .check, for: .sharedCaches,
      SuiteExchange(
        answer: ["Cache-Control": "max-age=1"] + more + ["CDN-Cache-Control": "max-age=10000"], pauses: true),
      SuiteExchange(shows: shown))
  }
}
