extension SuiteCase {
  /// Request directives, and the old form of one of them.
  static let requestDirectives: [SuiteCase] = [
    asked("ccreq-ma0", .fresh(), "max-age=0", .notCached),
    asked("ccreq-ma1", .fresh(), "max-age=1", .notCached),
    asked("ccreq-magreaterage", .fresh(["Age": "1800"]), "max-age=600", .notCached),
    asked("ccreq-max-stale", .becomesStale(), "max-stale=1000", .cached),
    asked(
      "ccreq-max-stale-age", SuiteExchange(answer: ["Cache-Control": "max-age=1500", "Age": "2000"]), "max-stale=1000",
      .cached),
    asked("ccreq-min-fresh", SuiteExchange(answer: ["Cache-Control": "max-age=1500"]), "min-fresh=2000", .notCached),
    asked(
      "ccreq-min-fresh-age", SuiteExchange(answer: ["Cache-Control": "max-age=1500", "Age": "1000"]), "min-fresh=1000",
      .notCached),
    asked("ccreq-no-cache", SuiteExchange(answer: ["Cache-Control": "max-age=3600"]), "no-cache", .notCached),
    asked(
      "ccreq-no-cache-lm", SuiteExchange(answer: ["Cache-Control": "max-age=3600", "Last-Modified": -10000]),
      "no-cache", .dateValidated),
    asked(
      "ccreq-no-cache-etag", SuiteExchange(answer: ["Cache-Control": "max-age=3600", "ETag": "\"tag of abc\""]),
      "no-cache", .tagValidated),
    asked("ccreq-no-store", .fresh(), "no-store", .notCached),
    SuiteCase(
      "ccreq-oic", .check, SuiteExchange(ask: ["Cache-Control": "only-if-cached"], expectStatus: 504, text: .any)),
  ]

  /// `Pragma`, in requests and in responses.
  static let pragma: [SuiteCase] = [
    pragma("pragma-request-no-cache", "no-cache"),
    pragma("pragma-request-extension", "unrecognised-extension"),
    reused("pragma-response-no-cache", .check, ["Cache-Control": "max-age=3600", "Pragma": "no-cache"], pauses: false),
    reused(
      "pragma-response-no-cache-heuristic", .check, ["Last-Modified": -10000, "Pragma": "no-cache"], pauses: false),
    reused(
      "pragma-response-extension", .check, ["Cache-Control": "max-age=3600", "Pragma": "unrecognised-extension"],
      pauses: false),
  ]

  private static func asked(
    _ id: String, _ first: SuiteExchange, _ directive: String, _ expected: SuiteExchange.Provenance
  ) -> SuiteCase {
    SuiteCase(id, .check, first, SuiteExchange(ask: ["Cache-Control": .text(directive)], expect: expected))
  }

  private static func pragma(_ id: String, _ value: String) -> SuiteCase {
    SuiteCase(id, .check, .fresh(), SuiteExchange(ask: ["Pragma": .text(value)], expect: .cached))
  }
}

extension SuiteCase {
  /// `If-Modified-Since`, from the client to the cache.
  static let dateConditions: [SuiteCase] = [
    since("conditional-lm-fresh", .fresh(["Last-Modified": -3000]), -3000, .cached),
    since("conditional-lm-fresh-earlier", .fresh(["Last-Modified": -3000]), -2000, .cached),
    since("conditional-lm-stale", .becomesStale(["Last-Modified": -3000]), -3000, .dateValidated),
    since("conditional-lm-fresh-no-lm", .fresh(), -3000, .cached),
    since("conditional-lm-fresh-rfc850", .fresh(["Last-Modified": -3000]), .obsoleteDate(-3000), .cached),
  ]

  /// `If-None-Match`, from the client to the cache and from the cache to the origin.
  static let tagConditions: [SuiteCase] = [
    matching("conditional-etag-strong-respond", .optimal, "\"abcdef\"", "\"abcdef\""),
    matching("conditional-304-etag", .required, "\"abcdef\"", "\"abcdef\"", isShown: true),
    SuiteCase(
      "conditional-etag-precedence", .required, for: .sharedCaches,
      .fresh(["Last-Modified": -5000, "ETag": "\"abcdef\""]),
      SuiteExchange(ask: ["If-None-Match": "\"abcdef\"", "If-Modified-Since": -1], expect: .cached, expectStatus: 304)),
    matching("conditional-etag-strong-respond-obs-text", .check, "\"abcdefü\"", "\"abcdefü\"", isShown: true),
    matching("conditional-etag-quoted-respond-unquoted", .check, "\"abcdef\"", "abcdef"),
    matching("conditional-etag-unquoted-respond-unquoted", .check, "abcdef", "abcdef"),
    matching("conditional-etag-unquoted-respond-quoted", .check, "abcdef", "\"abcdef\""),
    matching("conditional-etag-weak-respond", .optimal, "W/\"abcdef\"", "W/\"abcdef\""),
    matching("conditional-etag-weak-respond-lowercase", .check, "w/\"abcdef\"", "w/\"abcdef\""),
    matching("conditional-etag-weak-respond-backslash", .check, "W\\\"abcdef\"", "W\\\"abcdef\""),
    matching("conditional-etag-weak-respond-omit-slash", .check, "W\"abcdef\"", "W\"abcdef\""),
    matching(
      "conditional-etag-strong-respond-multiple-first", .optimal, "\"abcdef\"", "\"abcdef\", \"1234\", \"5678\""),
    matching(
      "conditional-etag-strong-respond-multiple-second", .optimal, "\"abcdef\"", "\"1234\", \"abcdef\", \"5678\""),
    matching("conditional-etag-strong-respond-multiple-last", .optimal, "\"abcdef\"", "\"1234\", \"5678\", \"abcdef\""),
    SuiteCase(
      "conditional-etag-vary-headers", .required,
      SuiteExchange(ask: ["Abc": "123"], answer: ["Expires": 1, "ETag": "\"abcdef\"", "Vary": "Abc"], pauses: true),
      SuiteExchange(ask: ["Abc": "123"], expect: .tagValidated, originSees: ["Abc": "123"])),
    SuiteCase(
      "conditional-etag-vary-headers-mismatch", .check,
      SuiteExchange(
        ask: ["Abc": "123"], answer: ["Expires": 10000, "ETag": "\"abcdef\"", "Vary": "Abc"], pauses: true),
      SuiteExchange(ask: ["Abc": "456"], originSees: ["If-None-Match": "\"abcdef\""])),
    generated("conditional-etag-strong-generate", .optimal, "\"abcdef\"", "\"abcdef\""),
    generated("conditional-etag-weak-generate-weak", .optimal, "W/\"abcdef\"", "W/\"abcdef\""),
    generated("conditional-etag-strong-generate-unquoted", .check, "abcdef", "\"abcdef\""),
    forwarded("conditional-etag-forward", "\"abcdef\""),
    forwarded("conditional-etag-forward-unquoted", "abcdef"),
  ]

  private static func since(
    _ id: String, _ first: SuiteExchange, _ date: SuiteFields.Value, _ expected: SuiteExchange.Provenance
  ) -> SuiteCase {
    SuiteCase(
      id, .optimal, for: .sharedCaches, first,
      SuiteExchange(ask: ["If-Modified-Since": date], expect: expected, expectStatus: 304))
  }

  private static func matching(
    _ id: String, _ kind: Kind, _ stored: String, _ asked: String, isShown: Bool = false
  ) -> SuiteCase {
    SuiteCase(
      id, kind, for: .sharedCaches, .fresh(["ETag": .text(stored)]),
      SuiteExchange(
        ask: ["If-None-Match": .text(asked)], expect: .cached, expectStatus: 304,
        shows: isShown ? ["ETag": .text(stored)] : [:]))
  }

  private static func generated(_ id: String, _ kind: Kind, _ stored: String, _ offered: String) -> SuiteCase {
    SuiteCase(
      id, kind, .becomesStale(["ETag": .text(stored)]),
      SuiteExchange(expect: .tagValidated, originSees: ["If-None-Match": .text(offered)]))
  }

  private static func forwarded(_ id: String, _ tag: String) -> SuiteCase {
    SuiteCase(
      id, .check, SuiteExchange(ask: ["If-None-Match": .text(tag)], originSees: ["If-None-Match": "\"abcdef\""]))
  }
}

extension SuiteCase {
  /// Selection among responses with `Vary`.
  static let vary: [SuiteCase] = [
    varied("vary-match", .optimal, "Foo", one, one, .cached),
    varied("vary-no-match", .required, "Foo", one, ["Foo": "2"], .notCached),
    varied("vary-omit-stored", .required, "Foo", [:], one, .notCached),
    varied("vary-omit", .required, "Foo", one, [:], .notCached),
    SuiteCase(
      "vary-invalidate", .optimal, SuiteExchange(ask: one, answer: varying("Foo"), body: "first"),
      SuiteExchange(ask: ["Foo": "2"], answer: varying("Foo"), body: "second", expect: .notCached),
      SuiteExchange(ask: one, body: "first", expect: .cached)),
    varied("vary-cache-key", .optimal, "Foo", one + ["Other": "2"], one + ["Other": "3"], .cached),
    varied("vary-2-match", .optimal, .loose("Foo, Bar"), two, two, .cached),
    varied("vary-2-no-match", .required, .loose("Foo, Bar"), two, ["Foo": "2", "Bar": "abc"], .notCached),
    varied("vary-2-match-omit", .required, .loose("Foo, Bar"), two, [:], .notCached),
    varied("vary-3-match", .optimal, .loose("Foo, Bar, Baz"), three, three, .cached),
    varied(
      "vary-3-no-match", .required, .loose("Foo, Bar, Baz"), three, ["Foo": "2", "Bar": "abc", "Baz": "789"], .notCached
    ),
    varied(
      "vary-3-order", .required, .loose("Foo, Bar, Baz"), three, ["Foo": "1", "Baz": "789", "Bar": "abcde"], .notCached),
    varied("vary-3-omit", .optimal, .loose("Foo, Bar, Baz"), ends, ends, .cached),
    varied("vary-star", .required, "*", ends, ends, .notCached),
    varied("vary-normalise-combine", .optimal, "Foo", ["Foo": "1, 2"], ["Foo": "1", "Foo": "2"], .cached),
    languages("vary-normalise-lang-order", "de, en"),
    languages("vary-normalise-lang-case", "eN, De"),
    languages("vary-normalise-lang-space", " en ,   de"),
    SuiteCase(
      "vary-normalise-lang-select", .optimal,
      SuiteExchange(
        ask: ["Accept-Language": "en, de"], answer: varying("Accept-Language") + ["Content-Language": "de"]),
      SuiteExchange(ask: ["Accept-Language": "fr;q=0.5, de;q=1.0"], expect: .cached)),
    varied("vary-normalise-space", .optimal, "Foo", ["Foo": "1,2"], ["Foo": " 1, 2 "], .cached),
  ]

  /// How the cache treats a `Vary` that contains a star.
  static let varyParsing: [SuiteCase] = [
    starred("vary-syntax-star", ["Vary": .loose("*")]),
    starred("vary-syntax-star-star", ["Vary": .loose("*, *")]),
    starred("vary-syntax-star-star-lines", ["Vary": .loose("*"), "Vary": .loose("*")]),
    starred("vary-syntax-empty-star", ["Vary": .loose(", *")]),
    starred("vary-syntax-empty-star-lines", ["Vary": .loose(""), "Vary": .loose("*")]),
    starred("vary-syntax-star-foo", ["Vary": .loose("*, Foo")]),
    starred("vary-syntax-foo-star", ["Vary": .loose("Foo, *")]),
  ]

  private static let one: SuiteFields = ["Foo": "1"]
  private static let two: SuiteFields = ["Foo": "1", "Bar": "abc"]
  private static let three: SuiteFields = ["Foo": "1", "Bar": "abc", "Baz": "789"]
  private static let ends: SuiteFields = ["Foo": "1", "Baz": "789"]
  private static let selectable: SuiteFields = ["Cache-Control": "max-age=5000", "Last-Modified": -3000]

  private static func varying(_ vary: SuiteFields.Value) -> SuiteFields { selectable + ["Vary": vary] }

  private static func varied(
    _ id: String, _ kind: Kind, _ vary: SuiteFields.Value, _ first: SuiteFields,
    _ second: SuiteFields, _ expected: SuiteExchange.Provenance
  ) -> SuiteCase {
    SuiteCase(id, kind, SuiteExchange(ask: first, answer: varying(vary)), SuiteExchange(ask: second, expect: expected))
  }

  private static func languages(_ id: String, _ second: String) -> SuiteCase {
    varied(id, .optimal, "Accept-Language", ["Accept-Language": "en, de"], ["Accept-Language": .text(second)], .cached)
  }

  private static func starred(_ id: String, _ vary: SuiteFields) -> SuiteCase {
    SuiteCase(
      id, .required, SuiteExchange(ask: ends, answer: selectable + vary), SuiteExchange(ask: ends, expect: .notCached))
  }
}

extension SuiteCase {
  /// Ranges, and partial content.
  static let partialContent: [SuiteCase] = [
    SuiteCase(
      "partial-store-partial-reuse-partial", .optimal, lastFive(originSees: ["Range": "bytes=-5"]),
      part("bytes=-5", "01234")),
    SuiteCase("partial-store-complete-reuse-partial", .optimal, whole("01234567890"), part("bytes=0-1", "01")),
    SuiteCase(
      "partial-store-complete-reuse-partial-no-last", .optimal, whole("01234567890"), part("bytes=1-", "1234567890")),
    SuiteCase("partial-store-complete-reuse-partial-suffix", .optimal, whole("0123456789A"), part("bytes=-1", "A")),
    SuiteCase("partial-store-partial-reuse-partial-byterange", .optimal, lastFive(), part("bytes=6-8", "234")),
    SuiteCase("partial-store-partial-reuse-partial-absent", .optimal, lastFive(), part("bytes=6-", "234")),
    SuiteCase("partial-store-partial-reuse-partial-suffix", .optimal, lastFive(), part("bytes=-1", "4")),
    SuiteCase(
      "partial-store-partial-complete", .optimal,
      SuiteExchange(
        ask: ["Range": "bytes=-5"], status: 206,
        answer: ["Cache-Control": "max-age=3600", "Content-Range": "bytes 0-4/10"], body: "01234"),
      SuiteExchange(originSees: ["Range": "bytes=5-"])),
    // The field that the suite changes is never sent.
    SuiteCase(
      "partial-use-headers", .required, whole("01234567890", ["A": "1"]),
      SuiteExchange(ask: ["Range": "bytes=0-1"], answer: ["A": "2"], expect: .cached, expectStatus: 206, text: "01")),
    SuiteCase(
      "partial-use-stored-headers", .required, whole("01234567890", ["A": "1"]),
      SuiteExchange(ask: ["Range": "bytes=0-1"], expect: .cached, expectStatus: 206, text: "01", shows: ["A": "1"])),
  ]

  /// Five bytes, which the suite declares as six.
  private static func lastFive(originSees: SuiteFields = [:]) -> SuiteExchange {
    SuiteExchange(
      ask: ["Range": "bytes=-5"], status: 206,
      answer: ["Cache-Control": "max-age=3600", "Content-Range": "bytes 4-9/10"], body: "01234", originSees: originSees)
  }

  private static func whole(_ body: String, _ fields: SuiteFields = [:]) -> SuiteExchange {
    SuiteExchange(answer: ["Cache-Control": "max-age=3600"] + fields, body: body)
  }

  private static func part(_ range: String, _ text: String) -> SuiteExchange {
    SuiteExchange(ask: ["Range": .text(range)], expect: .cached, expectStatus: 206, text: .exactly(text))
  }
}
