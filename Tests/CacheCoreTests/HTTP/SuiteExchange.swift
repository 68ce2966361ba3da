/// A request of a case: what the client sends, what the origin answers if it is asked, and the expectations for both.
struct SuiteExchange: Sendable {
  /// The expected origin of the answer.
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
  var method: String
  /// Text to append to the case's URL.
  var target: String
  var ask: SuiteFields
  var content: String

  // The origin's behaviour. Numbers in its fields are dates, relative to now.
  /// `nil` for 200.
  var status: Int?
  var answer: SuiteFields
  /// `nil` for the identifier of the case.
  var body: String?
  /// The delay of the answer in seconds.
  var delay: Int
  /// Whether the origin closes the connection instead of answering.
  var disconnects: Bool
  /// The statuses of the interim responses that it sends first.
  var interim: [Int]

  // The expectations.
  var expect: Provenance?
  var expectStatus: ExpectedStatus
  var text: ExpectedText
  /// The response's fields, and their values.
  var shows: SuiteFields
  /// The names of fields that the response must not have.
  var lacks: [String]
  /// The fields of the request to the origin, and their values.
  var originSees: SuiteFields
  /// The method of the request to the origin.
  var originGets: String?

  /// Whether three seconds pass after the exchange.
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
