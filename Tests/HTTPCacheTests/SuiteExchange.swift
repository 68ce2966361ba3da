/// A request of a case: what the client asks, what the origin answers if it is asked, and what is expected of both.
struct SuiteExchange: Sendable {
  /// Where the answer is expected to come from.
  enum Provenance: Sendable {
    /// From the store, without the origin.
    case cached
    /// From the origin.
    case notCached
    /// From the store, after the origin has confirmed the entity tag.
    case tagValidated
    /// From the store, after the origin has confirmed the date of the last change.
    case dateValidated
  }

  /// The status that the client is expected to get.
  enum ExpectedStatus: Sendable, ExpressibleByIntegerLiteral {
    /// That of the script.
    case scripted
    case any
    case exactly(Int)

    init(integerLiteral value: Int) { self = .exactly(value) }
  }

  /// The content that the client is expected to get.
  enum ExpectedText: Sendable, ExpressibleByStringLiteral {
    /// That of the script.
    case scripted
    case any
    case exactly(String)

    init(stringLiteral value: String) { self = .exactly(value) }
  }

  // What the client asks. Numbers among the fields are dates, counted from when the last response was made.
  var method: String
  /// What is added to the URL of the case.
  var target: String
  var ask: SuiteFields
  var content: String

  // What the origin does. Numbers among the fields are dates, counted from the present.
  /// `nil` for 200.
  var status: Int?
  var answer: SuiteFields
  /// `nil` for the identifier of the case.
  var body: String?
  /// How many seconds it takes to answer.
  var delay: Int
  /// Whether it breaks the connection off instead.
  var disconnects: Bool
  /// The statuses of interim responses that it sends first.
  var interim: [Int]

  // What is expected.
  var expect: Provenance?
  var expectStatus: ExpectedStatus
  var text: ExpectedText
  /// The fields of the response, and what they say.
  var shows: SuiteFields
  /// The names of fields that the response does not have.
  var lacks: [String]
  /// The fields of the request to the origin, and what they say.
  var originSees: SuiteFields
  /// The method of the request to the origin.
  var originGets: String?

  /// Whether three seconds pass afterwards.
  var pauses: Bool

  init(
    _ method: String = "GET", target: String = "", ask: SuiteFields = [:], content: String = "", status: Int? = nil,
    answer: SuiteFields = [:], body: String? = nil, delay: Int = 0, disconnects: Bool = false, interim: [Int] = [],
    expect: Provenance? = nil, expectStatus: ExpectedStatus = .scripted, text: ExpectedText = .scripted,
    shows: SuiteFields = [:], lacks: [String] = [], originSees: SuiteFields = [:], originGets: String? = nil,
    pauses: Bool = false
  ) {
    self.method = method
    self.target = target
    self.ask = ask
    self.content = content
    self.status = status
    self.answer = answer
    self.body = body
    self.delay = delay
    self.disconnects = disconnects
    self.interim = interim
    self.expect = expect
    self.expectStatus = expectStatus
    self.text = text
    self.shows = shows
    self.lacks = lacks
    self.originSees = originSees
    self.originGets = originGets
    self.pauses = pauses
  }

  /// A response that stays fresh, and a pause.
  static func fresh(
    _ answer: SuiteFields = [:], target: String = "", ask: SuiteFields = [:], originSees: SuiteFields = [:]
  ) -> SuiteExchange {
    SuiteExchange(
      target: target, ask: ask, answer: ["Cache-Control": "max-age=100000"] + answer, originSees: originSees,
      pauses: true)
  }

  /// A response that was stale when it was made, and a pause.
  static func stale(status: Int? = nil, body: String? = nil) -> SuiteExchange {
    SuiteExchange(status: status, answer: ["Expires": -5000, "Last-Modified": -100_000], body: body, pauses: true)
  }

  /// A response that is stale after the pause.
  static func becomesStale(_ answer: SuiteFields = [:]) -> SuiteExchange {
    SuiteExchange(answer: ["Cache-Control": "max-age=2", "Template-A": "1"] + answer, pauses: true)
  }

  /// The status of the script.
  var scriptedStatus: Int { status ?? 200 }
}
