extension SuiteCase {
  /// Responses to requests with credentials, in shared caches.
  static let credentials: [SuiteCase] = [
    SuiteCase(
      "other-authorization", .required, "not reused for another user", .sharedCaches,
      [.fresh(ask: credential, originSees: credential), SuiteExchange(expect: .notCached)]),
    allowed("other-authorization-public", "public allows it", "max-age=3600, public"),
    allowed("other-authorization-must-revalidate", "must-revalidate allows it", "max-age=3600, must-revalidate"),
    allowed("other-authorization-smaxage", "s-maxage allows it", "s-maxage=3600"),
  ]

  private static let credential: SuiteFields = ["Authorization": "FOO"]

  private static func allowed(_ id: String, _ name: String, _ directives: String) -> SuiteCase {
    SuiteCase(
      id, .optimal, name, .sharedCaches,
      [
        SuiteExchange(
          ask: credential, answer: ["Cache-Control": .text(directives)], originSees: credential, pauses: true),
        SuiteExchange(expect: .cached),
      ])
  }

  /// Cases that fit nowhere else.
  static let others: [SuiteCase] = [
    SuiteCase(
      "other-age-gen", .required, "a stored response has an Age",
      [.fresh(), SuiteExchange(expect: .cached, shows: ["Age": .above(2)])]),
    SuiteCase(
      "other-age-delay", .check, "a response that was long on its way has an Age",
      [SuiteExchange(answer: ["Cache-Control": "max-age=3600"], delay: 5, shows: ["Age": .above(0)])]),
    SuiteCase(
      "other-age-update-expires", .required, "Age goes on, with Expires",
      [
        SuiteExchange(answer: ["Expires": 2_592_000, "Age": "30"], pauses: true),
        SuiteExchange(expect: .cached, shows: ["Age": .above(32)]),
      ]),
    SuiteCase(
      "other-age-update-max-age", .required, "Age goes on, with max-age",
      [.fresh(["Age": "30"]), SuiteExchange(expect: .cached, shows: ["Age": .above(32)])]),
    SuiteCase(
      "other-date-update", .required, "Date stays", [.fresh(), SuiteExchange(expect: .cached, shows: ["Date": 0])]),
    unchanged("other-date-update-expires", .required, "Date stays, with Expires", ["Date": 0]),
    unchanged("other-date-update-expires-update", .check, "Expires stays", ["Expires": 2_592_000]),
    SuiteCase(
      "query-args-different", .required, "another query is another URL",
      [.fresh(target: "?test=one"), SuiteExchange(target: "?test=two", expect: .notCached)]),
    SuiteCase(
      "query-args-same", .optimal, "a query does not keep from storing",
      [.fresh(target: "?test=one"), SuiteExchange(target: "?test=one", expect: .cached)]),
    reused(
      "other-heuristic-content-disposition-attachment", .check, "an attachment is fresh by its age",
      ["Last-Modified": -100_000, "Content-Disposition": "attachment; filename=example.txt"], pauses: false),
    SuiteCase(
      "other-fresh-content-disposition-attachment", .check, "a fresh attachment",
      [.fresh(["Content-Disposition": "attachment; filename=example.txt"]), SuiteExchange(expect: .cached)]),
    SuiteCase(
      "other-set-cookie", .optimal, "a response that sets a cookie",
      [.fresh(["Set-Cookie": "a=b"]), SuiteExchange(expect: .cached)]),
    SuiteCase(
      "other-cookie", .optimal, "a request with a cookie",
      [.fresh(), SuiteExchange(ask: ["Cookie": "a=b"], expect: .cached)]),
  ]

  private static func unchanged(_ id: String, _ kind: Kind, _ name: String, _ shown: SuiteFields) -> SuiteCase {
    SuiteCase(
      id, kind, name,
      [SuiteExchange(answer: ["Expires": 2_592_000], pauses: true), SuiteExchange(expect: .cached, shows: shown)])
  }

  /// Interim responses, which come before the final one.
  static let interimResponses: [SuiteCase] = [
    interim("interim-102", .optimal, "a 102 is passed on", 102),
    interim("interim-103", .optimal, "a 103 is passed on", 103),
    interim("interim-not-cached", .required, "a 103 is not stored", 103),
    interim("interim-no-header-reuse", .optimal, "nor are its fields", 103),
  ]

  private static func interim(_ id: String, _ kind: Kind, _ name: String, _ status: Int) -> SuiteCase {
    SuiteCase(
      id, kind, name, .sharedCaches,
      [
        SuiteExchange(answer: ["Cache-Control": "max-age=100000"], interim: [status], pauses: true),
        SuiteExchange(expect: .cached),
      ])
  }
}
