extension SuiteCase {
  /// Which statuses are reused while fresh.
  static let statuses: [SuiteCase] =
    [
      200, 203, 204, 299, 301, 302, 303, 307, 308, 400, 404, 410, 499, 500, 502, 503, 504, 599,
    ].flatMap { [freshStatus($0), staleStatus($0)] } + [
      SuiteCase(
        "status-599-must-understand", .required, "must-understand, and the cache does not",
        [
          SuiteExchange(status: 599, answer: ["Cache-Control": "max-age=3600, no-store, must-understand"]),
          SuiteExchange(expect: .notCached),
        ]),
      SuiteCase(
        "status-200-must-understand", .optimal, "must-understand beats no-store where the status is understood",
        [
          SuiteExchange(status: 200, answer: ["Cache-Control": "max-age=3600, no-store, must-understand"]),
          SuiteExchange(expect: .cached),
        ]),
    ]

  private static func freshStatus(_ status: Int) -> SuiteCase {
    let body = content(status)
    var first = SuiteExchange.fresh()
    first.status = status
    first.body = body
    return SuiteCase(
      "status-\(status)-fresh", .optimal, "a fresh \(status) is reused", audience(status),
      [first, SuiteExchange(status: status, body: body, expect: .cached)])
  }

  private static func staleStatus(_ status: Int) -> SuiteCase {
    SuiteCase(
      "status-\(status)-stale", .required, "a stale \(status) is not reused", audience(status),
      [
        .stale(status: status, body: content(status)), SuiteExchange(body: content(status), expect: .notCached),
      ])
  }

  private static func content(_ status: Int) -> String? { status == 204 ? nil : "content of \(status)" }

  /// Browsers follow redirects before a page sees them.
  private static func audience(_ status: Int) -> Audience { (300..<400).contains(status) ? .sharedCaches : .everybody }
}
