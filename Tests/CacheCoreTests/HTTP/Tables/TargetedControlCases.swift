extension SuiteCase {
  /// `CDN-Cache-Control`, in shared caches.
  static let targetedControl: [SuiteCase] = [
    stored("cdn-max-age", .optimal, "max-age", ["CDN-Cache-Control": .loose("max-age=3600")]),
    stored("cdn-max-age-max", .optimal, "max-age=2^31", ["CDN-Cache-Control": .loose("max-age=2147483648")]),
    stored(
      "cdn-max-age-max-plus", .optimal, "max-age of 11 digits", ["CDN-Cache-Control": .loose("max-age=99999999999")]),
    unusable(
      "cdn-max-age-age", .required, "Age beyond max-age",
      ["CDN-Cache-Control": .loose("max-age=3600"), "Age": "7200"]),
    unusable(
      "cdn-max-age-space-before-equals", .check, "a space before = spoils it",
      ["Cache-Control": "max-age=1", "CDN-Cache-Control": .loose("max-age =100")]),
    unusable(
      "cdn-max-age-space-after-equals", .check, "a space after = spoils it",
      ["Cache-Control": "max-age=1", "CDN-Cache-Control": .loose("max-age= 100")]),
    unusable("cdn-max-age-0", .required, "max-age=0", ["CDN-Cache-Control": .loose("max-age=0")]),
    stored(
      "cdn-max-age-extension", .optimal, "beside an unknown directive",
      ["CDN-Cache-Control": .loose("foobar, max-age=3600")]),
    stored(
      "cdn-max-age-case-insensitive", .check, "max-age in mixed case", ["CDN-Cache-Control": .loose("MaX-aGe=3600")]),
    stored(
      "cdn-max-age-expires", .optimal, "it beats a past Expires",
      ["CDN-Cache-Control": .loose("max-age=3600"), "Expires": -10000]),
    stored(
      "cdn-max-age-cc-max-age-invalid-expires", .optimal, "it beats an Expires that is no date",
      ["CDN-Cache-Control": .loose("max-age=3600"), "Expires": .loose("0")]),
    unusable(
      "cdn-max-age-0-expires", .required, "it beats a future Expires",
      ["CDN-Cache-Control": .loose("max-age=0"), "Expires": 10000]),
    stored(
      "cdn-max-age-short-cc-max-age", .optimal, "it beats a shorter Cache-Control",
      ["Cache-Control": "max-age=1", "CDN-Cache-Control": .loose("max-age=3600")]),
    unusable(
      "cdn-max-age-long-cc-max-age", .required, "it beats a longer Cache-Control",
      ["Cache-Control": "max-age=3600", "CDN-Cache-Control": .loose("max-age=1")]),
    unusable(
      "cdn-private", .required, "private",
      ["CDN-Cache-Control": "private", "Cache-Control": "max-age=10000", "Expires": 10000], pauses: false),
    unusable(
      "cdn-no-cache", .required, "no-cache",
      ["CDN-Cache-Control": "no-cache", "Cache-Control": "max-age=10000", "Expires": 10000], pauses: false),
    unusable(
      "cdn-no-store-cc-fresh", .required, "no-store",
      ["Cache-Control": "max-age=10000", "CDN-Cache-Control": .loose("no-store"), "Expires": 10000]),
    stored(
      "cdn-fresh-cc-nostore", .required, "it beats no-store",
      ["Cache-Control": "no-store", "CDN-Cache-Control": .loose("max-age=10000")]),
    unusable(
      "cdn-cc-invalid-sh-type-unknown", .required, "what is no structured field is ignored",
      ["CDN-Cache-Control": .loose("max-age=10000, &&&&&"), "Cache-Control": "no-store"]),
    unusable(
      "cdn-cc-invalid-sh-type-wrong", .required, "a string for a number is ignored",
      ["CDN-Cache-Control": .loose("max-age=\"10000\""), "Cache-Control": "no-store"]),
    SuiteCase(
      "cdn-remove-header", .check, "the field is passed on", .sharedCaches,
      [
        SuiteExchange(
          answer: ["Cache-Control": "max-age=10000", "CDN-Cache-Control": .loose("foo"), "Expires": 10000],
          shows: ["CDN-Cache-Control": "foo"])
      ]),
    outliving("cdn-remove-age-exceed", "Age", [:], ["Age": .present]),
    outliving("cdn-date-update-exceed", "Date", [:], ["Date": 0]),
    outliving("cdn-expires-update-exceed", "Expires", ["Expires": 1], ["Expires": 1]),
  ]

  private static func stored(_ id: String, _ kind: Kind, _ name: String, _ answer: SuiteFields) -> SuiteCase {
    reused(id, kind, name, answer, for: .sharedCaches)
  }

  private static func unusable(
    _ id: String, _ kind: Kind, _ name: String, _ answer: SuiteFields, pauses: Bool = true
  ) -> SuiteCase {
    notReused(id, kind, name, answer, pauses: pauses, for: .sharedCaches)
  }

  /// A response that only this field keeps fresh shows what `shown` says.
  private static func outliving(_ id: String, _ name: String, _ more: SuiteFields, _ shown: SuiteFields) -> SuiteCase {
    SuiteCase(
      id, .check, "\(name) of a response that only this field keeps fresh", .sharedCaches,
      [
        SuiteExchange(
          answer: ["Cache-Control": "max-age=1"] + more + ["CDN-Cache-Control": "max-age=10000"], pauses: true),
        SuiteExchange(shows: shown),
      ])
  }
}
