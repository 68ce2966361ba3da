/// One case of the public suite of tests for HTTP caches (github.com/http-tests/cache-tests), in a table of our own.
///
/// The identifiers are the suite's, so that results can be compared; what each case does is written down anew.
///
/// How results are counted: the suite's results name `true` for a case whose checks all hold, and anything else is no
/// pass. Its totals count these, whatever the kind of the case: an answer of "no" to a case of the kind `check` counts
/// like a failed requirement. That other cases have to pass before the result of a case means much (`depends_on`)
/// changes only how it is displayed, not the total. Here it is counted in the same way.
struct SuiteCase: Sendable {
  /// What a failure means.
  enum Kind: String, Sendable, CaseIterable {
    /// The standard demands it.
    case required
    /// The standard allows otherwise, but a good cache does it.
    case optimal
    /// The suite only wants to know. Either answer conforms.
    case check
  }

  /// The caches that a case is for.
  enum Audience: Sendable {
    case everybody, privateCaches, sharedCaches
  }

  let id: String
  let kind: Kind
  /// What is to be seen, in a few words.
  let name: String
  let audience: Audience
  /// The requests, one after the other, each with the origin's script and what is expected.
  let exchanges: [SuiteExchange]

  init(_ id: String, _ kind: Kind, _ name: String, _ exchanges: [SuiteExchange]) {
    self.init(id, kind, name, .everybody, exchanges)
  }

  init(_ id: String, _ kind: Kind, _ name: String, _ audience: Audience, _ exchanges: [SuiteExchange]) {
    self.id = id
    self.kind = kind
    self.name = name
    self.audience = audience
    self.exchanges = exchanges
  }

  /// A response with the fields `answer` is asked for twice, three seconds apart if it `pauses`: the second answer is the
  /// stored one.
  static func reused(
    _ id: String, _ kind: Kind, _ name: String, _ answer: SuiteFields, pauses: Bool = true,
    for audience: Audience = .everybody
  ) -> SuiteCase {
    twice(id, kind, name, answer, pauses, audience, .cached)
  }

  /// A response with the fields `answer` is asked for twice, three seconds apart if it `pauses`: the second answer is a
  /// new one.
  static func notReused(
    _ id: String, _ kind: Kind, _ name: String, _ answer: SuiteFields, pauses: Bool = true,
    for audience: Audience = .everybody
  ) -> SuiteCase {
    twice(id, kind, name, answer, pauses, audience, .notCached)
  }

  private static func twice(
    _ id: String, _ kind: Kind, _ name: String, _ answer: SuiteFields, _ pauses: Bool, _ audience: Audience,
    _ expected: SuiteExchange.Provenance
  ) -> SuiteCase {
    SuiteCase(
      id, kind, name, audience, [SuiteExchange(answer: answer, pauses: pauses), SuiteExchange(expect: expected)])
  }

  /// Whether it applies to a shared cache, or to a private one.
  func applies(toShared isShared: Bool) -> Bool {
    switch audience {
    case .everybody: true
    case .privateCaches: !isShared
    case .sharedCaches: isShared
    }
  }
}
