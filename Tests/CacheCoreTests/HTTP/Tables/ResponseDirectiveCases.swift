extension SuiteCase {
  private static let lasting: SuiteFields = ["Cache-Control": "max-age=10000", "Expires": 10000, "A": "1"]

  /// Response directives that are about more than freshness.
  static let responseDirectives: [SuiteCase] = [
    notReused(
      "cc-resp-private-shared", .required, "private keeps a shared cache from storing",
      ["Cache-Control": "private, max-age=3600"], pauses: false, for: .sharedCaches),
    reused(
      "cc-resp-private-private", .optimal, "private does not keep a private cache from storing",
      ["Cache-Control": "private, max-age=3600"], pauses: false, for: .privateCaches),
    notReused("cc-resp-no-store", .required, "no-store", ["Cache-Control": "no-store"], pauses: false),
    notReused(
      "cc-resp-no-store-case-insensitive", .required, "no-store in mixed case", ["Cache-Control": "No-StOrE"],
      pauses: false),
    notReused(
      "cc-resp-no-store-fresh", .required, "no-store beats max-age and Expires",
      ["Cache-Control": "max-age=10000, no-store", "Expires": 10000], pauses: false),
    afterNoStore("cc-resp-no-store-old-new", "an older response answers, not one with no-store", "no-store"),
    afterNoStore("cc-resp-no-store-old-max-age", "nor one with max-age=0 as well", "no-store, max-age=0"),
    notReused(
      "cc-resp-no-cache", .required, "no-cache beats max-age and Expires",
      ["Cache-Control": "max-age=10000, no-cache", "Expires": 10000], pauses: false),
    notReused(
      "cc-resp-no-cache-case-insensitive", .required, "no-cache in mixed case",
      ["Cache-Control": "max-age=10000, No-CaChE", "Expires": 10000], pauses: false),
    confirmed(
      "cc-resp-no-cache-revalidate", "no-cache is stored and confirmed",
      ["Cache-Control": "no-cache", "ETag": "\"abcd\""]),
    confirmed(
      "cc-resp-no-cache-revalidate-fresh", "no-cache is confirmed although it is fresh",
      ["Cache-Control": "max-age=10000, no-cache", "Expires": 10000, "ETag": "\"abcd\""]),
    SuiteCase(
      "headers-omit-headers-listed-in-Cache-Control-no-cache-single", .check, "no-cache of one field",
      [
        SuiteExchange(
          answer: ["Cache-Control": "no-cache=\"a\"", "a": "1", "b": "2", "Cache-Control": "max-age=3600"],
          pauses: true),
        SuiteExchange(expect: .cached, shows: ["b": "2"], lacks: ["a"]),
      ]),
    SuiteCase(
      "headers-omit-headers-listed-in-Cache-Control-no-cache", .check, "no-cache of two fields",
      [
        SuiteExchange(
          answer: [
            "Cache-Control": "no-cache=\"a, b\"", "a": "1", "b": "2", "c": "3", "Cache-Control": "max-age=3600",
          ],
          pauses: true),
        SuiteExchange(expect: .cached, shows: ["c": "3"], lacks: ["a", "b"]),
      ]),
    reused(
      "cc-resp-must-revalidate-fresh", .optimal, "must-revalidate does not concern what is fresh",
      ["Cache-Control": "max-age=10000, must-revalidate", "ETag": "\"abcd\""], pauses: false),
    SuiteCase(
      "cc-resp-must-revalidate-stale", .required, "must-revalidate has what is stale confirmed",
      [
        SuiteExchange(answer: mustRevalidate), SuiteExchange(answer: mustRevalidate, expect: .cached, pauses: true),
        SuiteExchange(expect: .tagValidated),
      ]),
    SuiteCase(
      "cc-resp-immutable-fresh", .optimal, "immutable: a reload is answered from the store", .privateCaches,
      [
        SuiteExchange(answer: ["Cache-Control": "max-age=10000, immutable", "ETag": "\"abcd\""], pauses: true),
        SuiteExchange(ask: reload, expect: .cached),
      ]),
    SuiteCase(
      "cc-resp-immutable-stale", .required, "immutable does not concern what is stale", .privateCaches,
      [
        SuiteExchange(answer: ["Cache-Control": "max-age=2, immutable", "ETag": "\"abcd\""], pauses: true),
        SuiteExchange(ask: reload, expect: .tagValidated, originSees: ["Cache-Control": "max-age=0"]),
      ]),
  ]

  private static let mustRevalidate: SuiteFields = [
    "Cache-Control": "max-age=2, must-revalidate", "ETag": "\"abcd\"",
  ]

  /// The field that a browser adds to reload a page.
  private static let reload: SuiteFields = ["Cache-Control": "max-age=0"]

  private static func confirmed(_ id: String, _ name: String, _ answer: SuiteFields) -> SuiteCase {
    SuiteCase(id, .optimal, name, [SuiteExchange(answer: answer), SuiteExchange(expect: .tagValidated)])
  }

  private static func afterNoStore(_ id: String, _ name: String, _ directives: String) -> SuiteCase {
    SuiteCase(
      id, .required, name,
      [
        SuiteExchange(answer: lasting, pauses: true),
        SuiteExchange(answer: ["Cache-Control": .text(directives), "A": "2"], pauses: true),
        SuiteExchange(expect: .cached, shows: ["a": "1"]),
      ])
  }
}
