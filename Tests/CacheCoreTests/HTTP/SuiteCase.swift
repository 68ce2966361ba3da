import CacheCore

/// A case of the public test suite for HTTP caches (github.com/http-tests/cache-tests), in our own format.
///
/// The identifiers are the suite's, so that results can be compared; the cases themselves are written again.
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
    /// The suite only asks. Both results conform.
    case check
  }

  /// The caches to which a case applies.
  enum Audience: Sendable { case everybody, privateCaches, sharedCaches }

  let id: String
  let kind: Kind
  let audience: Audience
  /// The requests, in order, each with the origin's script and the expectations.
  let exchanges: [SuiteExchange]

  init(_ id: String, _ kind: Kind, for audience: Audience = .everybody, exchanges: [SuiteExchange]) {
    self.id = id
    self.kind = kind
    self.audience = audience
    self.exchanges = exchanges
  }

  init(_ id: String, _ kind: Kind, for audience: Audience = .everybody, _ exchanges: SuiteExchange...) {
    self.init(id, kind, for: audience, exchanges: exchanges)
  }

  /// Requests a response with the fields `answer` twice, three seconds apart if it `pauses`, and expects the stored one
  /// the second time.
  static func reused(
    _ id: String, _ kind: Kind, _ answer: SuiteFields, pauses: Bool = true, for audience: Audience = .everybody
  ) -> SuiteCase { twice(id, kind, answer, pauses, audience, .cached) }

  /// Requests a response with the fields `answer` twice, three seconds apart if it `pauses`, and expects a new one the
  /// second time.
  static func notReused(
    _ id: String, _ kind: Kind, _ answer: SuiteFields, pauses: Bool = true, for audience: Audience = .everybody
  ) -> SuiteCase { twice(id, kind, answer, pauses, audience, .notCached) }

  private static func twice(
    _ id: String, _ kind: Kind, _ answer: SuiteFields, _ pauses: Bool, _ audience: Audience,
    _ expected: SuiteExchange.Provenance
  ) -> SuiteCase {
    SuiteCase(id, kind, for: audience, SuiteExchange(answer: answer, pauses: pauses), SuiteExchange(expect: expected))
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

/// A request of a case: what the client sends, what the origin responds if it gets the request, and the expectations
/// for both.
struct SuiteExchange: Sendable {
  /// The expected source of the response.
  enum Provenance: Sendable {
    /// The store, without asking the origin.
    case cached
    /// The origin.
    case notCached
    /// The store, after the origin has confirmed the entity tag.
    case tagValidated
    /// The store, after the origin has confirmed the date of the last change.
    case dateValidated
  }

  /// The status expected by the client.
  enum ExpectedStatus: Sendable, ExpressibleByIntegerLiteral {
    /// The status in the script.
    case scripted
    case any
    case exactly(Int)

    init(integerLiteral value: Int) { self = .exactly(value) }
  }

  /// The content expected by the client.
  enum ExpectedText: Sendable, ExpressibleByStringLiteral {
    /// The content in the script.
    case scripted
    case any
    case exactly(String)

    init(stringLiteral value: String) { self = .exactly(value) }
  }

  // The client's request. Numbers in its fields are dates, relative to the time of the last response.
  var method = "GET"
  /// Text to append to the case's URL.
  var target = ""
  var ask: SuiteFields = [:]
  var content = ""

  // The origin's behavior. Numbers in its fields are dates, relative to now.
  /// `nil` for 200.
  var status: Int?
  var answer: SuiteFields = [:]
  /// `nil` for the identifier of the case.
  var body: String?
  /// The delay of the response in seconds.
  var delay = 0
  /// Whether the origin closes the connection instead of responding.
  var disconnects = false
  /// The statuses of the interim responses that it sends first.
  var interim: [Int] = []

  // The expectations.
  var expect: Provenance?
  var expectStatus = ExpectedStatus.scripted
  var text = ExpectedText.scripted
  /// The response's fields, and their values.
  var shows: SuiteFields = [:]
  /// The names of fields that the response must not have.
  var lacks: [String] = []
  /// The fields of the request to the origin, and their values.
  var originSees: SuiteFields = [:]
  /// The method of the request to the origin.
  var originGets: String?

  /// Whether three seconds pass after the exchange.
  var pauses = false

  /// A response that stays fresh, and a pause.
  static func fresh(
    _ answer: SuiteFields = [:], target: String = "", ask: SuiteFields = [:], originSees: SuiteFields = [:]
  ) -> SuiteExchange {
    SuiteExchange(
      target: target, ask: ask, answer: ["Cache-Control": "max-age=100000"] + answer, originSees: originSees,
      pauses: true)
  }

  /// A response that is stale from the start, and a pause.
  static func stale(status: Int? = nil, body: String? = nil) -> SuiteExchange {
    SuiteExchange(status: status, answer: ["Expires": -5000, "Last-Modified": -100_000], body: body, pauses: true)
  }

  /// A response that is stale after the pause.
  static func becomesStale(_ answer: SuiteFields = [:]) -> SuiteExchange {
    SuiteExchange(answer: ["Cache-Control": "max-age=2", "Template-A": "1"] + answer, pauses: true)
  }

  /// The status in the script.
  var scriptedStatus: Int { status ?? 200 }
}

/// The fields of a message in a table. An origin adds `Date` and `Content-Type` if they are missing.
struct SuiteFields: Sendable, ExpressibleByDictionaryLiteral {
  /// The value of a field, sent or expected.
  enum Value: Sendable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    /// This text.
    case text(String)
    /// This text, which a cache may pass on in another form.
    case loose(String)
    /// The date this many seconds after the time that dates are relative to.
    case date(Int)
    /// That date in the format of RFC 850.
    case obsoleteDate(Int)
    /// The request's path with this text appended.
    case place(String)
    /// Any value.
    case present
    /// A number greater than this.
    case above(Int)

    init(stringLiteral value: String) { self = .text(value) }
    init(integerLiteral value: Int) { self = .date(value) }
  }

  /// One line.
  struct Line: Sendable {
    let name: String
    let value: Value
  }

  private(set) var lines: [Line]

  init(dictionaryLiteral elements: (String, Value)...) { lines = elements.map { Line(name: $0.0, value: $0.1) } }

  /// The lines of both, in order.
  static func + (left: SuiteFields, right: SuiteFields) -> SuiteFields {
    var sum = left
    sum.lines += right.lines
    return sum
  }

  /// Adds a line at the end.
  mutating func append(_ name: String, _ value: Value) { lines.append(Line(name: name, value: value)) }
}

extension SuiteFields {
  private static let weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]

  /// The fields as they are sent, with dates relative to `now` and places relative to `path`.
  func fields(datedFrom now: Duration, at path: String = "") -> HTTP.Fields {
    HTTP.Fields(
      lines.compactMap { line in
        Self.text(line.value, datedFrom: now, at: path).map { HTTP.Fields.Field(line.name, $0) }
      })
  }

  /// `value` as it is sent, without surrounding white space; `nil` if it is only an expectation.
  static func text(_ value: Value, datedFrom now: Duration, at path: String = "") -> String? {
    switch value {
    case .text(let text), .loose(let text): trimmed(text)
    case .date(let offset): HTTPDate.text(now + .seconds(offset))
    case .obsoleteDate(let offset): obsoleteDate(now + .seconds(offset))
    case .place(let suffix): path + suffix
    case .present, .above: nil
    }
  }

  /// `Sunday, 06-Nov-94 08:49:37 GMT` (RFC 9110, section 5.6.7).
  private static func obsoleteDate(_ time: Duration) -> String {
    let words = HTTPDate.text(time).split(separator: " ")
    let day = weekdays.first { $0.hasPrefix(words[0].prefix(3)) } ?? ""
    return "\(day), \(words[1])-\(words[2])-\(words[3].suffix(2)) \(words[4]) GMT"
  }

  private static func trimmed(_ text: String) -> String {
    String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
  }
}
