extension SuiteCase {
  /// `If-Modified-Since`, from the client to the cache.
  static let dateConditions: [SuiteCase] = [
    since("conditional-lm-fresh", "the date of the last change", .fresh(["Last-Modified": -3000]), -3000, .cached),
    since("conditional-lm-fresh-earlier", "a later date", .fresh(["Last-Modified": -3000]), -2000, .cached),
    since(
      "conditional-lm-stale", "a stale response is confirmed first", .becomesStale(["Last-Modified": -3000]), -3000,
      .dateValidated),
    since("conditional-lm-fresh-no-lm", "no date of a last change is stored", .fresh(), -3000, .cached),
    since(
      "conditional-lm-fresh-rfc850", "the date in the form of RFC 850", .fresh(["Last-Modified": -3000]),
      .obsoleteDate(-3000), .cached),
  ]

  /// `If-None-Match`, from the client to the cache and from the cache to the origin.
  static let tagConditions: [SuiteCase] = [
    matching("conditional-etag-strong-respond", .optimal, "a strong tag", "\"abcdef\"", "\"abcdef\""),
    matching("conditional-304-etag", .required, "the 304 has the tag", "\"abcdef\"", "\"abcdef\"", isShown: true),
    SuiteCase(
      "conditional-etag-precedence", .required, "a tag beats a date", .sharedCaches,
      [
        .fresh(["Last-Modified": -5000, "ETag": "\"abcdef\""]),
        SuiteExchange(
          ask: ["If-None-Match": "\"abcdef\"", "If-Modified-Since": -1], expect: .cached, expectStatus: 304),
      ]),
    matching(
      "conditional-etag-strong-respond-obs-text", .check, "a tag beyond ASCII", "\"abcdefü\"", "\"abcdefü\"",
      isShown: true),
    matching("conditional-etag-quoted-respond-unquoted", .check, "quoted; not quoted", "\"abcdef\"", "abcdef"),
    matching("conditional-etag-unquoted-respond-unquoted", .check, "neither is quoted", "abcdef", "abcdef"),
    matching("conditional-etag-unquoted-respond-quoted", .check, "not quoted; quoted", "abcdef", "\"abcdef\""),
    matching("conditional-etag-weak-respond", .optimal, "a weak tag", "W/\"abcdef\"", "W/\"abcdef\""),
    matching("conditional-etag-weak-respond-lowercase", .check, "w/", "w/\"abcdef\"", "w/\"abcdef\""),
    matching("conditional-etag-weak-respond-backslash", .check, "W\\", "W\\\"abcdef\"", "W\\\"abcdef\""),
    matching("conditional-etag-weak-respond-omit-slash", .check, "W", "W\"abcdef\"", "W\"abcdef\""),
    matching(
      "conditional-etag-strong-respond-multiple-first", .optimal, "the first of three", "\"abcdef\"",
      "\"abcdef\", \"1234\", \"5678\""),
    matching(
      "conditional-etag-strong-respond-multiple-second", .optimal, "the second of three", "\"abcdef\"",
      "\"1234\", \"abcdef\", \"5678\""),
    matching(
      "conditional-etag-strong-respond-multiple-last", .optimal, "the last of three", "\"abcdef\"",
      "\"1234\", \"5678\", \"abcdef\""),
    SuiteCase(
      "conditional-etag-vary-headers", .required, "the request for a confirmation has the fields of Vary",
      [
        SuiteExchange(ask: ["Abc": "123"], answer: ["Expires": 1, "ETag": "\"abcdef\"", "Vary": "Abc"], pauses: true),
        SuiteExchange(ask: ["Abc": "123"], expect: .tagValidated, originSees: ["Abc": "123"]),
      ]),
    SuiteCase(
      "conditional-etag-vary-headers-mismatch", .check, "the tag of another variant is offered",
      [
        SuiteExchange(
          ask: ["Abc": "123"], answer: ["Expires": 10000, "ETag": "\"abcdef\"", "Vary": "Abc"], pauses: true),
        SuiteExchange(ask: ["Abc": "456"], originSees: ["If-None-Match": "\"abcdef\""]),
      ]),
    generated("conditional-etag-strong-generate", .optimal, "a strong tag is offered", "\"abcdef\"", "\"abcdef\""),
    generated(
      "conditional-etag-weak-generate-weak", .optimal, "a weak tag is offered", "W/\"abcdef\"", "W/\"abcdef\""),
    generated(
      "conditional-etag-strong-generate-unquoted", .check, "a tag without quotes is offered with quotes", "abcdef",
      "\"abcdef\""),
    forwarded("conditional-etag-forward", "a tag is passed on where nothing is stored", "\"abcdef\""),
    forwarded("conditional-etag-forward-unquoted", "a tag without quotes is passed on with quotes", "abcdef"),
  ]

  private static func since(
    _ id: String, _ name: String, _ first: SuiteExchange, _ date: SuiteFields.Value,
    _ expected: SuiteExchange.Provenance
  ) -> SuiteCase {
    SuiteCase(
      id, .optimal, name, .sharedCaches,
      [first, SuiteExchange(ask: ["If-Modified-Since": date], expect: expected, expectStatus: 304)])
  }

  private static func matching(
    _ id: String, _ kind: Kind, _ name: String, _ stored: String, _ asked: String, isShown: Bool = false
  ) -> SuiteCase {
    SuiteCase(
      id, kind, name, .sharedCaches,
      [
        .fresh(["ETag": .text(stored)]),
        SuiteExchange(
          ask: ["If-None-Match": .text(asked)], expect: .cached, expectStatus: 304,
          shows: isShown ? ["ETag": .text(stored)] : [:]),
      ])
  }

  private static func generated(
    _ id: String, _ kind: Kind, _ name: String, _ stored: String, _ offered: String
  ) -> SuiteCase {
    SuiteCase(
      id, kind, name,
      [
        .becomesStale(["ETag": .text(stored)]),
        SuiteExchange(expect: .tagValidated, originSees: ["If-None-Match": .text(offered)]),
      ])
  }

  private static func forwarded(_ id: String, _ name: String, _ tag: String) -> SuiteCase {
    SuiteCase(
      id, .check, name,
      [SuiteExchange(ask: ["If-None-Match": .text(tag)], originSees: ["If-None-Match": "\"abcdef\""])])
  }
}
