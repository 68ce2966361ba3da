extension SuiteCase {
  /// How long a response with `Cache-Control` is fresh.
  static let cacheControlFreshness: [SuiteCase] = [
    notReused("freshness-none", .check, "nothing said about freshness: not reused", [:]),
    reused("freshness-max-age", .optimal, "max-age", ["Cache-Control": "max-age=3600"]),
    SuiteCase(
      "freshness-max-age-stale", .required, "max-age that has passed",
      [.becomesStale(), SuiteExchange(expect: .notCached)]),
    notReused("freshness-max-age-0", .required, "max-age=0", ["Cache-Control": "max-age=0"]),
    reused(
      "freshness-max-age-max-minus-1", .optimal, "max-age=2^31-1", ["Cache-Control": "max-age=2147483647"]),
    reused("freshness-max-age-max", .optimal, "max-age=2^31", ["Cache-Control": "max-age=2147483648"]),
    reused("freshness-max-age-max-plus-1", .optimal, "max-age=2^31+1", ["Cache-Control": "max-age=2147483649"]),
    reused("freshness-max-age-max-plus", .optimal, "max-age of 11 digits", ["Cache-Control": "max-age=99999999999"]),
    notReused(
      "freshness-max-age-age", .required, "Age beyond max-age", ["Cache-Control": "max-age=3600", "Age": "7200"]),
    notReused(
      "freshness-max-age-date", .check, "Date longer ago than max-age",
      ["Date": -7200, "Cache-Control": "max-age=3600"]),
    reused(
      "freshness-max-age-expires", .optimal, "max-age beats a past Expires",
      ["Cache-Control": "max-age=3600", "Expires": -7200]),
    reused(
      "freshness-max-age-expires-invalid", .optimal, "max-age beats an Expires that is no date",
      ["Cache-Control": "max-age=3600", "Expires": .loose("0")]),
    notReused(
      "freshness-max-age-0-expires", .required, "max-age=0 beats a future Expires",
      ["Expires": 3600, "Cache-Control": "max-age=0"]),
    reused(
      "freshness-max-age-extension", .optimal, "max-age beside an unknown directive",
      ["Cache-Control": "foobar, max-age=3600"]),
    reused("freshness-max-age-case-insenstive", .optimal, "max-age in mixed case", ["Cache-Control": "MaX-aGe=3600"]),
    notReused("freshness-max-age-negative", .required, "a negative max-age", ["Cache-Control": "max-age=-3600"]),
    notReused(
      "freshness-max-age-s-maxage-private", .required, "s-maxage says nothing to a private cache",
      ["Cache-Control": "s-maxage=3600, max-age=1"], for: .privateCaches),
    notReused(
      "freshness-max-age-s-maxage-private-multiple", .required, "the same on two lines",
      ["Cache-Control": "s-maxage=3600", "Cache-Control": "max-age=1"], for: .privateCaches),
    reused(
      "freshness-s-maxage-shared", .required, "s-maxage", ["Cache-Control": "s-maxage=3600"], for: .sharedCaches),
    notReused(
      "freshness-max-age-s-maxage-shared-longer", .required, "a short s-maxage beats a long max-age",
      ["Cache-Control": "max-age=3600, s-maxage=1"], for: .sharedCaches),
    notReused(
      "freshness-max-age-s-maxage-shared-longer-reversed", .required, "in either order",
      ["Cache-Control": "s-maxage=1, max-age=3600"], for: .sharedCaches),
    notReused(
      "freshness-max-age-s-maxage-shared-longer-multiple", .required, "on two lines",
      ["Cache-Control": "max-age=3600", "Cache-Control": "s-maxage=1"], for: .sharedCaches),
    reused(
      "freshness-max-age-s-maxage-shared-shorter", .optimal, "a long s-maxage beats a short max-age",
      ["Cache-Control": "max-age=1, s-maxage=3600"], for: .sharedCaches),
    reused(
      "freshness-max-age-s-maxage-shared-shorter-expires", .optimal, "a long s-maxage beats max-age=0 and Expires",
      ["Expires": -10, "Cache-Control": "max-age=0, s-maxage=3600"], for: .sharedCaches),
  ]
}
