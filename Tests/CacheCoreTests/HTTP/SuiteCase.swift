/// A case of the public test suite for HTTP caches (github.com/http-tests/cache-tests), in our own format.
///
/// The identifiers are the suite's, so that results can be compared; the cases themselves are written anew.
///
/// How results are counted: the suite reports `true` for a case if all its checks hold; anything else does not count as
/// passed. Its totals include all kinds of cases, so a "no" to a case of the kind `check` counts like a failed
/// requirement. A case may depend on other cases (`depends_on`); that changes how its result is displayed, but not the
/// total. This test counts in the same way.
struct SuiteCase: Sendable {
  /// The meaning of a failure.
  enum Kind: String, Sendable, CaseIterable {
    /// The standard requires it.
    case required
    /// The standard does not require it, but a good cache does it.
    case optimal
    /// The suite only asks. Both answers conform.
    case check
  }

  /// The caches to which a case applies.
  enum Audience: Sendable {
    case everybody, privateCaches, sharedCaches
  }

  let id: String
  let kind: Kind
  /// What the case shows, in a few words.
  let name: String
  let audience: Audience
  /// The requests, in order, each with the origin's script and the expectations.
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

  /// Requests a response with the fields `answer` twice, three seconds apart if it `pauses`, and expects the stored one
  /// the second time.
  static func reused(
    _ id: String, _ kind: Kind, _ name: String, _ answer: SuiteFields, pauses: Bool = true,
    for audience: Audience = .everybody
  ) -> SuiteCase {
    twice(id, kind, name, answer, pauses, audience, .cached)
  }

  /// Requests a response with the fields `answer` twice, three seconds apart if it `pauses`, and expects a new one the
  /// second time.
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

  /// Whether the case applies to a shared cache, or to a private one.
  func applies(toShared isShared: Bool) -> Bool {
    switch audience {
    case .everybody: true
    case .privateCaches: !isShared
    case .sharedCaches: isShared
    }
  }
}
