extension SuiteCase {
  /// Which requests a response with `Vary` answers.
  static let vary: [SuiteCase] = [
    varied("vary-match", .optimal, "the same value", "Foo", one, one, .cached),
    varied("vary-no-match", .required, "another value", "Foo", one, ["Foo": "2"], .notCached),
    varied("vary-omit-stored", .required, "a value, where there was none", "Foo", [:], one, .notCached),
    varied("vary-omit", .required, "no value, where there was one", "Foo", one, [:], .notCached),
    SuiteCase(
      "vary-invalidate", .optimal, "two variants side by side",
      [
        SuiteExchange(ask: one, answer: varying("Foo"), body: "first"),
        SuiteExchange(ask: ["Foo": "2"], answer: varying("Foo"), body: "second", expect: .notCached),
        SuiteExchange(ask: one, body: "first", expect: .cached),
      ]),
    varied(
      "vary-cache-key", .optimal, "other fields select nothing", "Foo", one + ["Other": "2"], one + ["Other": "3"],
      .cached),
    varied("vary-2-match", .optimal, "two fields, the same", .loose("Foo, Bar"), two, two, .cached),
    varied(
      "vary-2-no-match", .required, "two fields, one of them another", .loose("Foo, Bar"), two,
      ["Foo": "2", "Bar": "abc"], .notCached),
    varied("vary-2-match-omit", .required, "two fields, left out", .loose("Foo, Bar"), two, [:], .notCached),
    varied("vary-3-match", .optimal, "three fields, the same", .loose("Foo, Bar, Baz"), three, three, .cached),
    varied(
      "vary-3-no-match", .required, "three fields, one of them another", .loose("Foo, Bar, Baz"), three,
      ["Foo": "2", "Bar": "abc", "Baz": "789"], .notCached),
    varied(
      "vary-3-order", .required, "three fields, one of them another, in another order", .loose("Foo, Bar, Baz"), three,
      ["Foo": "1", "Baz": "789", "Bar": "abcde"], .notCached),
    varied(
      "vary-3-omit", .optimal, "three fields, the same one left out twice", .loose("Foo, Bar, Baz"), ends, ends,
      .cached),
    varied("vary-star", .required, "a star selects nothing", "*", ends, ends, .notCached),
    varied(
      "vary-normalise-combine", .optimal, "a list on one line or on two", "Foo", ["Foo": "1, 2"],
      ["Foo": "1", "Foo": "2"], .cached),
    languages("vary-normalise-lang-order", "languages in another order", "de, en"),
    languages("vary-normalise-lang-case", "languages in another case", "eN, De"),
    languages("vary-normalise-lang-space", "languages with other spaces", " en ,   de"),
    SuiteCase(
      "vary-normalise-lang-select", .optimal, "the language that is stored is the one that is wanted most",
      [
        SuiteExchange(
          ask: ["Accept-Language": "en, de"], answer: varying("Accept-Language") + ["Content-Language": "de"]),
        SuiteExchange(ask: ["Accept-Language": "fr;q=0.5, de;q=1.0"], expect: .cached),
      ]),
    varied(
      "vary-normalise-space", .optimal, "a list with other spaces", "Foo", ["Foo": "1,2"], ["Foo": " 1, 2 "], .cached),
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
    _ id: String, _ kind: Kind, _ name: String, _ vary: SuiteFields.Value, _ first: SuiteFields,
    _ second: SuiteFields, _ expected: SuiteExchange.Provenance
  ) -> SuiteCase {
    SuiteCase(
      id, kind, name,
      [SuiteExchange(ask: first, answer: varying(vary)), SuiteExchange(ask: second, expect: expected)])
  }

  private static func languages(_ id: String, _ name: String, _ second: String) -> SuiteCase {
    varied(
      id, .optimal, name, "Accept-Language", ["Accept-Language": "en, de"], ["Accept-Language": .text(second)], .cached)
  }

  private static func starred(_ id: String, _ vary: SuiteFields) -> SuiteCase {
    SuiteCase(
      id, .required, "a star anywhere selects nothing",
      [SuiteExchange(ask: ends, answer: selectable + vary), SuiteExchange(ask: ends, expect: .notCached)])
  }
}
