extension SuiteCase {
  private static let month: SuiteFields.Value = 2_592_000

  /// How long a response with `Expires` is fresh.
  static let expiresFreshness: [SuiteCase] = [
    reused("freshness-expires-future", .optimal, "a future Expires", ["Expires": month]),
    notReused("freshness-expires-past", .required, "a past Expires", ["Expires": -2_592_000]),
    notReused("freshness-expires-present", .required, "an Expires of now", ["Expires": 0], pauses: false),
    notReused(
      "freshness-expires-old-date", .required, "an Expires before Date, by a clock that is ahead",
      ["Expires": 300, "Date": 400]),
    notReused("freshness-expires-invalid", .required, "an Expires of 0", ["Expires": .loose("0")]),
    reused(
      "freshness-expires-invalid-date", .optimal, "an Expires beside a Date that is none",
      ["Date": .loose("foo"), "Expires": 10], pauses: false),
    notReused(
      "freshness-expires-age-slow-date", .required, "Age beyond Expires minus Date, by a clock that is behind",
      ["Date": -10, "Expires": 10, "Age": "25"], pauses: false),
    notReused(
      "freshness-expires-age-fast-date", .required, "Age beyond Expires minus Date, by a clock that is ahead",
      ["Date": 10, "Expires": 20, "Age": "15"], pauses: false),
  ]

  /// How the cache treats the various forms of `Expires`.
  static let expiresParsing: [SuiteCase] = [
    dated("freshness-expires-32bit", "past 32 bits", "Tue, 19 Jan 2038 14:14:08 GMT"),
    dated("freshness-expires-far-future", "centuries away", "Sun, 21 Nov 2286 04:46:39 GMT"),
    dated("freshness-expires-rfc850", "the form of RFC 850", "Thursday, 18-Aug-50 02:01:18 GMT"),
    dated("freshness-expires-ansi-c", "the form of asctime()", "Thu Aug  8 02:01:18 2050"),
    dated("freshness-expires-wrong-case-weekday", "a day in capitals", "THU, 18 Aug 2050 02:01:18 GMT"),
    dated("freshness-expires-wrong-case-month", "a month in capitals", "Thu, 18 AUG 2050 02:01:18 GMT"),
    dated("freshness-expires-wrong-case-tz", "a zone in mixed case", "Thu, 18 Aug 2050 02:01:18 gMT"),
    undated("freshness-expires-invalid-utc", "UTC", "Thu, 18 Aug 2050 02:01:18 UTC"),
    undated("freshness-expires-invalid-aest", "another zone", "Thu, 18 Aug 2050 02:01:18 AEST"),
    undated("freshness-expires-invalid-2-digit-year", "a year of two digits", "Thu, 18 Aug 50 02:01:18 GMT"),
    undated("freshness-expires-invalid-no-comma", "no comma", "Thu 18 Aug 2050 02:01:18 GMT"),
    undated("freshness-expires-invalid-multiple-spaces", "two spaces", "Thu, 18  Aug  2050 02:01:18 GMT"),
    undated("freshness-expires-invalid-date-dashes", "dashes in a long year", "Thu, 18-Aug-2050 02:01:18 GMT"),
    undated("freshness-expires-invalid-time-periods", "full stops in the time", "Thu, 18 Aug 2050 02.01.18 GMT"),
    undated("freshness-expires-invalid-1-digit-hour", "an hour of one digit", "Thu, 18 Aug 2050 2:01:18 GMT"),
    notReused(
      "freshness-expires-invalid-multiple-lines", .required, "two lines",
      ["Expires": .loose("Thu, 18 Aug 2050 2:01:18 GMT"), "Expires": .loose("Thu, 18 Aug 2050 2:01:19 GMT")],
      pauses: false),
  ]

  private static func dated(_ id: String, _ name: String, _ expires: String) -> SuiteCase {
    reused(id, .optimal, "Expires: \(name)", ["Expires": .loose(expires)])
  }

  private static func undated(_ id: String, _ name: String, _ expires: String) -> SuiteCase {
    notReused(id, .required, "Expires is no date: \(name)", ["Expires": .loose(expires)])
  }
}
