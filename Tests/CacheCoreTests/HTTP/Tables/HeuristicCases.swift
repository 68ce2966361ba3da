extension SuiteCase {
  /// Heuristic freshness, from the age of a response without a lifetime.
  static let heuristics: [SuiteCase] =
    [200, 203, 204, 404, 405, 410, 414, 501].map { guessed($0) }
    + [201, 202, 403, 502, 503, 504, 599].map { notGuessed($0) }
    + [guessed(599, ["Cache-Control": "public"])]
    + [5, 10, 30, 60, 300, 600, 1200, 1800, 3600, 43_200, 86_400].map { seconds in
      reused(
        "heuristic-delta-\(seconds)", .check, "after 3 s, where the last change was \(seconds) s ago",
        ["Last-Modified": .date(-seconds)])
    }

  private static func guessed(_ status: Int, _ fields: SuiteFields = [:]) -> SuiteCase {
    twice("heuristic-\(status)-cached", .optimal, "\(status) is reused", status, fields, .cached)
  }

  private static func notGuessed(_ status: Int) -> SuiteCase {
    twice("heuristic-\(status)-not_cached", .required, "\(status) is not reused", status, [:], .notCached)
  }

  private static func twice(
    _ id: String, _ kind: Kind, _ name: String, _ status: Int, _ fields: SuiteFields,
    _ expected: SuiteExchange.Provenance
  ) -> SuiteCase {
    let body = status == 204 ? nil : "content of \(status)"
    return SuiteCase(
      id, kind, name,
      [
        SuiteExchange(status: status, answer: ["Last-Modified": -86_400] + fields, body: body),
        SuiteExchange(status: status, body: body, expect: expected),
      ])
  }
}
