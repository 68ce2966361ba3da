extension SuiteCase {
  /// When a stale response may answer.
  static let stale: [SuiteCase] = [
    SuiteCase(
      "stale-close", .check, "the origin breaks the connection off",
      [.becomesStale(), SuiteExchange(disconnects: true, expect: .cached)]),
    SuiteCase(
      "stale-503", .check, "the origin answers 503",
      [.becomesStale(), SuiteExchange(status: 503, expect: .cached, expectStatus: 200)]),
    SuiteCase(
      "stale-while-revalidate", .optimal, "stale-while-revalidate allows it",
      [
        SuiteExchange(
          answer: ["Cache-Control": "max-age=1, stale-while-revalidate=3600", "ETag": "\"abc\""], pauses: true),
        SuiteExchange(expect: .cached),
      ]),
    SuiteCase(
      "stale-while-revalidate-window", .required, "stale-while-revalidate allows it for a while only",
      [
        SuiteExchange(
          answer: ["Cache-Control": "max-age=1, stale-while-revalidate=4", "ETag": "\"abc\""], pauses: true),
        SuiteExchange(
          answer: ["Cache-Control": .loose("no-cache"), "ETag": .loose("\"def\"")], expect: .cached, pauses: true),
        SuiteExchange(shows: ["client-request-count": "3"]),
      ]),
    standingIn("stale-sie-close", "stale-if-error, and the origin breaks the connection off"),
    standingIn("stale-sie-503", "the same once more: the suite breaks the connection off here too"),
    forbidden("must-revalidate"),
    forbidden("proxy-revalidate", for: .sharedCaches),
    forbidden("no-cache"),
    forbidden("s-maxage", "=2", for: .sharedCaches),
    SuiteCase(
      "stale-warning-stored", .check, "Warning on a response that came stale",
      [.stale(), SuiteExchange(disconnects: true, expect: .cached, shows: ["Warning": .present])]),
    SuiteCase(
      "stale-warning-become", .check, "Warning on a response that became stale",
      [.becomesStale(), SuiteExchange(disconnects: true, expect: .cached, shows: ["Warning": .present])]),
  ]

  private static func standingIn(_ id: String, _ name: String) -> SuiteCase {
    SuiteCase(
      id, .check, name,
      [
        SuiteExchange(answer: ["Cache-Control": "max-age=2, stale-if-error=60"], pauses: true),
        SuiteExchange(disconnects: true, expect: .cached),
      ])
  }

  private static func forbidden(
    _ directive: String, _ argument: String = "", for audience: Audience = .everybody
  ) -> SuiteCase {
    SuiteCase(
      "stale-close-\(directive)\(argument)", .required, "\(directive) forbids it", audience,
      [
        SuiteExchange(answer: ["Cache-Control": .text("max-age=2, \(directive)\(argument)")], pauses: true),
        SuiteExchange(disconnects: true, expectStatus: .any, text: .any, lacks: ["server-request-count"]),
      ])
  }
}
