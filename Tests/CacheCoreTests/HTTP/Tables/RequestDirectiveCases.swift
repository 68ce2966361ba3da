extension SuiteCase {
  /// Request directives, and the old form of one of them.
  static let requestDirectives: [SuiteCase] = [
    asked("ccreq-ma0", "max-age=0", .fresh(), "max-age=0", .notCached),
    asked("ccreq-ma1", "max-age=1", .fresh(), "max-age=1", .notCached),
    asked("ccreq-magreaterage", "max-age below the Age", .fresh(["Age": "1800"]), "max-age=600", .notCached),
    asked("ccreq-max-stale", "max-stale", .becomesStale(), "max-stale=1000", .cached),
    asked(
      "ccreq-max-stale-age", "max-stale, and an Age",
      SuiteExchange(answer: ["Cache-Control": "max-age=1500", "Age": "2000"]), "max-stale=1000", .cached),
    asked(
      "ccreq-min-fresh", "min-fresh", SuiteExchange(answer: ["Cache-Control": "max-age=1500"]), "min-fresh=2000",
      .notCached),
    asked(
      "ccreq-min-fresh-age", "min-fresh, and an Age",
      SuiteExchange(answer: ["Cache-Control": "max-age=1500", "Age": "1000"]), "min-fresh=1000", .notCached),
    asked(
      "ccreq-no-cache", "no-cache", SuiteExchange(answer: ["Cache-Control": "max-age=3600"]), "no-cache", .notCached),
    asked(
      "ccreq-no-cache-lm", "no-cache has a date confirmed",
      SuiteExchange(answer: ["Cache-Control": "max-age=3600", "Last-Modified": -10000]), "no-cache", .dateValidated),
    asked(
      "ccreq-no-cache-etag", "no-cache has a tag confirmed",
      SuiteExchange(answer: ["Cache-Control": "max-age=3600", "ETag": "\"tag of abc\""]), "no-cache", .tagValidated),
    asked("ccreq-no-store", "no-store", .fresh(), "no-store", .notCached),
    SuiteCase(
      "ccreq-oic", .check, "only-if-cached answers 504 where nothing is stored",
      [SuiteExchange(ask: ["Cache-Control": "only-if-cached"], expectStatus: 504, text: .any)]),
  ]

  /// `Pragma`, in requests and in responses.
  static let pragma: [SuiteCase] = [
    pragma("pragma-request-no-cache", "no-cache", "of the request"),
    pragma("pragma-request-extension", "unrecognised-extension", "of the request, unknown"),
    reused(
      "pragma-response-no-cache", .check, "of a fresh response",
      ["Cache-Control": "max-age=3600", "Pragma": "no-cache"], pauses: false),
    reused(
      "pragma-response-no-cache-heuristic", .check, "of a response fresh by its age",
      ["Last-Modified": -10000, "Pragma": "no-cache"], pauses: false),
    reused(
      "pragma-response-extension", .check, "of a response, unknown",
      ["Cache-Control": "max-age=3600", "Pragma": "unrecognised-extension"], pauses: false),
  ]

  private static func asked(
    _ id: String, _ name: String, _ first: SuiteExchange, _ directive: String, _ expected: SuiteExchange.Provenance
  ) -> SuiteCase {
    SuiteCase(
      id, .check, name, [first, SuiteExchange(ask: ["Cache-Control": .text(directive)], expect: expected)])
  }

  private static func pragma(_ id: String, _ value: String, _ name: String) -> SuiteCase {
    SuiteCase(id, .check, name, [.fresh(), SuiteExchange(ask: ["Pragma": .text(value)], expect: .cached)])
  }
}
