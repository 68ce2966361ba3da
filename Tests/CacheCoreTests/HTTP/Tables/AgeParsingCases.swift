extension SuiteCase {
  /// How the cache treats an `Age` in a response that is fresh for an hour.
  static let ageParsing: [SuiteCase] = [
    fresh("age-parse-nonnumeric", "no number: ignored", ["Age": .loose("abc")]),
    fresh("age-parse-negative", "a negative number: ignored", ["Age": .loose("-7200")]),
    fresh("age-parse-float", "a decimal fraction: ignored", ["Age": .loose("7200.0")]),
    old("age-parse-large-minus-one", "2^31-1", ["Age": .loose("2147483647")]),
    old("age-parse-large", "2^31", ["Age": .loose("2147483648")]),
    old("age-parse-larger", "2^31+1", ["Age": .loose("2147483649")]),
    old("age-parse-suffix", "the first of a list counts (old, 0)", ["Age": .loose("7200, 0")]),
    fresh("age-parse-prefix", "the first of a list counts (0, old)", ["Age": .loose("0, 7200")]),
    old("age-parse-suffix-twoline", "the first line counts (old, 0)", ["Age": .loose("7200"), "Age": .loose("0")]),
    fresh("age-parse-prefix-twoline", "the first line counts (0, old)", ["Age": .loose("0"), "Age": .loose("7200")]),
    fresh("age-parse-dup-0", "0 twice", ["Age": .loose("0, 0")]),
    fresh("age-parse-dup-0-twoline", "0 on two lines", ["Age": .loose("0"), "Age": .loose("0")]),
    reused(
      "age-parse-dup-old", .required, "an age below max-age on two lines",
      ["Cache-Control": "max-age=10000", "Age": .loose("3600"), "Age": .loose("3600")]),
    old("age-parse-parameter", "a parameter after the number", ["Age": .loose("7200;foo=bar")], .check),
    old("age-parse-numeric-parameter", "a parameter with a number", ["Age": .loose("7200;foo=111")], .check),
  ]

  private static func fresh(_ id: String, _ name: String, _ age: SuiteFields) -> SuiteCase {
    reused(id, .required, name, ["Cache-Control": "max-age=3600"] + age)
  }

  private static func old(_ id: String, _ name: String, _ age: SuiteFields, _ kind: Kind = .required) -> SuiteCase {
    notReused(id, kind, name, ["Cache-Control": "max-age=3600"] + age)
  }
}
