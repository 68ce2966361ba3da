extension SuiteCase {
  /// Methods other than GET.
  static let methods: [SuiteCase] = [
    SuiteCase(
      "method-POST", .optimal,
      SuiteExchange(
        method: "POST", ask: ["Content-Type": "text/plain"], content: "12345",
        answer: ["Cache-Control": "max-age=3600", "Content-Location": .place("")], pauses: true),
      SuiteExchange(expect: .cached))
  ]

  /// Changes of the stored response by a response to HEAD.
  static let heads: [SuiteCase] = [
    SuiteCase("head-writethrough", .check, .becomesStale(), SuiteExchange(method: "HEAD", originGets: "HEAD")),
    SuiteCase(
      "head-200-retain", .check, .becomesStale(),
      SuiteExchange(method: "HEAD", shows: ["Template-A": "1"], originGets: "HEAD")),
    SuiteCase(
      "head-200-freshness-update", .check, .becomesStale(),
      SuiteExchange(method: "HEAD", answer: ["Cache-Control": "max-age=1000"], originGets: "HEAD"),
      SuiteExchange(expect: .cached)), SuiteCase("head-200-update", .check, exchanges: headUpdate(status: nil)),
    SuiteCase("head-410-update", .check, exchanges: headUpdate(status: 410)),
  ]

  private static func headUpdate(status: Int?) -> [SuiteExchange] {
    [
      .becomesStale(),
      SuiteExchange(
        method: "HEAD", status: status, answer: ["Template-A": "2", "Cache-Control": "max-age=1000"], originGets: "HEAD"
      ), SuiteExchange(expect: .cached, shows: ["Template-A": "2"]),
    ]
  }

  private static let unsafeMethods = ["POST", "PUT", "DELETE", "M-SEARCH"]

  /// Invalidation by requests that change the origin.
  static let invalidation: [SuiteCase] =
    unsafeMethods.flatMap { [invalidating($0), failing($0)] }
    + unsafeMethods.map { naming($0, "location", "Location", "location_target") }
    + unsafeMethods.map { naming($0, "cl", "Content-Location", "content_location_target") }

  private static func invalidating(_ method: String) -> SuiteCase {
    SuiteCase(
      "invalidate-\(method)", .required, .fresh(), SuiteExchange(method: method, content: "abc"),
      SuiteExchange(expect: .notCached))
  }

  private static func failing(_ method: String) -> SuiteCase {
    SuiteCase(
      "invalidate-\(method)-failed", .optimal, .fresh(), SuiteExchange(method: method, content: "abc", status: 500),
      SuiteExchange(expect: .cached))
  }

  private static func naming(_ method: String, _ suffix: String, _ field: String, _ target: String) -> SuiteCase {
    let fresh: SuiteFields = ["Cache-Control": "max-age=100000", "Last-Modified": 0]
    return SuiteCase(
      "invalidate-\(method)-\(suffix)", .check, SuiteExchange(target: "/\(target)", answer: fresh),
      SuiteExchange(
        method: method, content: "abc",
        answer: ["Location": .place("/location_target"), "Content-Location": .place("/content_location_target")]),
      SuiteExchange(target: "/\(target)", answer: fresh, expect: .notCached))
  }
}

extension SuiteCase {
  /// Responses to requests with credentials, in shared caches.
  static let credentials: [SuiteCase] = [
    SuiteCase(
      "other-authorization", .required, for: .sharedCaches, .fresh(ask: credential, originSees: credential),
      SuiteExchange(expect: .notCached)),
    allowed("other-authorization-public", "max-age=3600, public"),
    allowed("other-authorization-must-revalidate", "max-age=3600, must-revalidate"),
    allowed("other-authorization-smaxage", "s-maxage=3600"),
  ]

  private static let credential: SuiteFields = ["Authorization": "FOO"]

  private static func allowed(_ id: String, _ directives: String) -> SuiteCase {
    SuiteCase(
      id, .optimal, for: .sharedCaches,
      SuiteExchange(
        ask: credential, answer: ["Cache-Control": .text(directives)], originSees: credential, pauses: true),
      SuiteExchange(expect: .cached))
  }

  /// Cases that fit nowhere else.
  static let others: [SuiteCase] = [
    SuiteCase("other-age-gen", .required, .fresh(), SuiteExchange(expect: .cached, shows: ["Age": .above(2)])),
    SuiteCase(
      "other-age-delay", .check,
      SuiteExchange(answer: ["Cache-Control": "max-age=3600"], delay: 5, shows: ["Age": .above(0)])),
    SuiteCase(
      "other-age-update-expires", .required, SuiteExchange(answer: ["Expires": 2_592_000, "Age": "30"], pauses: true),
      SuiteExchange(expect: .cached, shows: ["Age": .above(32)])),
    SuiteCase(
      "other-age-update-max-age", .required, .fresh(["Age": "30"]),
      SuiteExchange(expect: .cached, shows: ["Age": .above(32)])),
    SuiteCase("other-date-update", .required, .fresh(), SuiteExchange(expect: .cached, shows: ["Date": 0])),
    unchanged("other-date-update-expires", .required, ["Date": 0]),
    unchanged("other-date-update-expires-update", .check, ["Expires": 2_592_000]),
    SuiteCase(
      "query-args-different", .required, .fresh(target: "?test=one"),
      SuiteExchange(target: "?test=two", expect: .notCached)),
    SuiteCase(
      "query-args-same", .optimal, .fresh(target: "?test=one"), SuiteExchange(target: "?test=one", expect: .cached)),
    reused(
      "other-heuristic-content-disposition-attachment", .check,
      ["Last-Modified": -100_000, "Content-Disposition": "attachment; filename=example.txt"], pauses: false),
    SuiteCase(
      "other-fresh-content-disposition-attachment", .check,
      .fresh(["Content-Disposition": "attachment; filename=example.txt"]), SuiteExchange(expect: .cached)),
    SuiteCase("other-set-cookie", .optimal, .fresh(["Set-Cookie": "a=b"]), SuiteExchange(expect: .cached)),
    SuiteCase("other-cookie", .optimal, .fresh(), SuiteExchange(ask: ["Cookie": "a=b"], expect: .cached)),
  ]

  private static func unchanged(_ id: String, _ kind: Kind, _ shown: SuiteFields) -> SuiteCase {
    SuiteCase(
      id, kind, SuiteExchange(answer: ["Expires": 2_592_000], pauses: true),
      SuiteExchange(expect: .cached, shows: shown))
  }

  /// Interim responses, which come before the final one.
  static let interimResponses: [SuiteCase] = [
    interim("interim-102", .optimal, 102),
    interim("interim-103", .optimal, 103),
    interim("interim-not-cached", .required, 103),
    interim("interim-no-header-reuse", .optimal, 103),
  ]

  private static func interim(_ id: String, _ kind: Kind, _ status: Int) -> SuiteCase {
    SuiteCase(
      id, kind, for: .sharedCaches,
      SuiteExchange(answer: ["Cache-Control": "max-age=100000"], interim: [status], pauses: true),
      SuiteExchange(expect: .cached))
  }
}
