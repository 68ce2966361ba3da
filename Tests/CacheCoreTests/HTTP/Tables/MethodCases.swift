extension SuiteCase {
  /// Methods other than GET.
  static let methods: [SuiteCase] = [
    SuiteCase(
      "method-POST", .optimal, "a response to POST that names the same URL answers GET",
      [
        SuiteExchange(
          "POST", ask: ["Content-Type": "text/plain"], content: "12345",
          answer: ["Cache-Control": "max-age=3600", "Content-Location": .place("")], pauses: true),
        SuiteExchange(expect: .cached),
      ])
  ]

  /// What a response to HEAD changes in the stored response.
  static let heads: [SuiteCase] = [
    SuiteCase(
      "head-writethrough", .check, "where the stored response is stale the origin is asked",
      [.becomesStale(), SuiteExchange("HEAD", originGets: "HEAD")]),
    SuiteCase(
      "head-200-retain", .check, "the response has stored fields that the origin left out",
      [.becomesStale(), SuiteExchange("HEAD", shows: ["Template-A": "1"], originGets: "HEAD")]),
    SuiteCase(
      "head-200-freshness-update", .check, "a stored response becomes fresh again",
      [
        .becomesStale(), SuiteExchange("HEAD", answer: ["Cache-Control": "max-age=1000"], originGets: "HEAD"),
        SuiteExchange(expect: .cached),
      ]),
    SuiteCase("head-200-update", .check, "a stored field is replaced", headUpdate(status: nil)),
    SuiteCase("head-410-update", .check, "a stored field is replaced by a 410", headUpdate(status: 410)),
  ]

  private static func headUpdate(status: Int?) -> [SuiteExchange] {
    [
      .becomesStale(),
      SuiteExchange(
        "HEAD", status: status, answer: ["Template-A": "2", "Cache-Control": "max-age=1000"], originGets: "HEAD"),
      SuiteExchange(expect: .cached, shows: ["Template-A": "2"]),
    ]
  }

  private static let unsafeMethods = ["POST", "PUT", "DELETE", "M-SEARCH"]

  /// What requests that change the origin invalidate.
  static let invalidation: [SuiteCase] =
    unsafeMethods.flatMap { [invalidating($0), failing($0)] }
    + unsafeMethods.map { naming($0, "location", "Location", "location_target") }
    + unsafeMethods.map { naming($0, "cl", "Content-Location", "content_location_target") }

  private static func invalidating(_ method: String) -> SuiteCase {
    SuiteCase(
      "invalidate-\(method)", .required, "the URL of the request",
      [.fresh(), SuiteExchange(method, content: "abc"), SuiteExchange(expect: .notCached)])
  }

  private static func failing(_ method: String) -> SuiteCase {
    SuiteCase(
      "invalidate-\(method)-failed", .optimal, "nothing, if it failed",
      [.fresh(), SuiteExchange(method, content: "abc", status: 500), SuiteExchange(expect: .cached)])
  }

  private static func naming(_ method: String, _ suffix: String, _ field: String, _ target: String) -> SuiteCase {
    let fresh: SuiteFields = ["Cache-Control": "max-age=100000", "Last-Modified": 0]
    return SuiteCase(
      "invalidate-\(method)-\(suffix)", .check, "the URL that \(field) names",
      [
        SuiteExchange(target: "/\(target)", answer: fresh),
        SuiteExchange(
          method, content: "abc",
          answer: ["Location": .place("/location_target"), "Content-Location": .place("/content_location_target")]),
        SuiteExchange(target: "/\(target)", answer: fresh, expect: .notCached),
      ])
  }
}
