import CacheData
import CacheDomain
import FetchVocabulary
import HTTPCaching
import Synchronization
import Testing
@testable import CacheCore

/// How responses of servers are interpreted before their bodies are read.
struct OriginAnswerTests {
  private static let subject = "page 0 of cities"
  private static let tmdb = #"{"success": false, "status_code": 7, "status_message": "Invalid API key."}"#

  private func answer(_ transfer: FakeTransfer) async throws -> CacheError? {
    let origin = HTTPCityOrigin(try server("https://a.example", transfer))
    return await failure { () throws(CacheError) in _ = try await origin.answer(to: Asked.cities(), conditions: [:]) }
  }

  /// Nobody knows what it confirms.
  @Test func aConfirmationThatNobodyAskedForIsAnError() async throws {
    let origin = HTTPCityOrigin(try server("https://a.example", FakeTransfer(304)))
    let error = await #expect(throws: CacheError.self) {
      let snapshots = fetch(
        Asked.cities(), storage: FakeStorage(log: CallLog()), origin: origin,
        services: .at1000(), options: FetchOptions(), toDomain: { $0 })
      for try await _ in snapshots {}
    }
    #expect(error?.code == .invalidAnswer && error?.message.contains("304") == true)
  }

  @Test func aConfirmationHasAHeadAndNoResponse() async throws {
    let head = HTTP.ResponseHead(status: 304, fields: ["ETag": "\"2\"", "Cache-Control": "max-age=60"])
    let origin = HTTPCityOrigin(try server("https://a.example", FakeTransfer(HTTP.Response(head))))
    let answer = try await origin.answer(to: Asked.cities(), conditions: ["If-None-Match": "\"2\""])
    #expect(answer.head == head)
    #expect(answer.response == nil)
  }

  @Test func aResponseHasItsHead() async throws {
    let body = #"{"page": 0, "totalPages": 0, "totalItems": 0, "items": []}"#
    let head = HTTP.ResponseHead(status: 200, fields: ["ETag": "\"1\"", "Vary": "Accept", "vary": "Accept-Encoding"])
    let transfer = FakeTransfer(HTTP.Response(head, body: Array(body.utf8)))
    let origin = HTTPCityOrigin(try server("https://a.example", transfer))
    let answer = try await origin.answer(to: Asked.cities(), conditions: [:])
    #expect(answer.head == head)
    #expect(answer.response?.toDomain().cities.isEmpty == true)
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let status: Int
    var body = ""
    var fields: HTTP.Fields = [:]
    let code: CacheError.Code
    let message: String
    let hint: String

    var testDescription: String { "\(status) \(body)" }
  }

  private static let refused = "give this origin a key or token in the configuration"
  private static let asked = "check the request"
  private static let odd = "http@a.example responded for \(subject) with a status that means nothing here"
  private static let moved = "set the base URL of this origin to its new address"

  static let cases: [Case] = [
    Case(
      status: 401, body: tmdb, code: .originRefused,
      message: "http@a.example refused \(subject) (401): Invalid API key", hint: refused),
    Case(
      status: 403, body: "<html>no</html>", code: .originRefused, message: "http@a.example refused \(subject) (403)",
      hint: refused),
    Case(
      status: 404, body: #"{"status_code": 34, "status_message": "The resource could not be found."}"#,
      code: .notFound, message: "http@a.example has no \(subject) (404): The resource could not be found", hint: asked),
    Case(status: 410, code: .notFound, message: "http@a.example has no \(subject) (410)", hint: asked),
    Case(
      status: 400, body: #"{"status_code": 22, "status_message": "Invalid page: Pages start at 1 and max at 500."}"#,
      code: .invalidRequest,
      message: "http@a.example rejected \(subject) (400): Invalid page: Pages start at 1 and max at 500", hint: asked),
    Case(
      status: 422, body: #"{"errors": ["page must be less than or equal to 500", "so there"]}"#, code: .invalidRequest,
      message: "http@a.example rejected \(subject) (422): page must be less than or equal to 500; so there",
      hint: asked),
    Case(
      status: 422, body: #"{"errors": [{"page": 1}]}"#, code: .invalidRequest,
      message: "http@a.example rejected \(subject) (422)", hint: asked),
    Case(
      status: 429, body: #"{"status_code": 25, "status_message": "Over the limit"}"#, fields: ["Retry-After": "12"],
      code: .originUnreachable, message: "http@a.example allows no more requests for now (429): Over the limit",
      hint: "try again in 12 seconds"),
    Case(
      status: 429, fields: ["retry-after": "1"], code: .originUnreachable,
      message: "http@a.example allows no more requests for now (429)", hint: "try again in 1 second"),
    Case(
      status: 429, fields: ["Retry-After": "Fri, 31 Dec 1999 23:59:59 GMT"], code: .originUnreachable,
      message: "http@a.example allows no more requests for now (429)", hint: "try again later"),
    Case(
      status: 503, fields: ["Retry-After": "Fri, 31 Dec 1999 23:59:59 GMT", "Date": "Fri, 31 Dec 1999 23:58:29 GMT"],
      code: .originUnreachable, message: "http@a.example failed to serve \(subject) (503)",
      hint: "try again in 90 seconds"),
    Case(
      status: 503, fields: ["Retry-After": "Fri, 31 Dec 1999 23:59:59 GMT", "Date": "Sat, 01 Jan 2000 00:00:00 GMT"],
      code: .originUnreachable, message: "http@a.example failed to serve \(subject) (503)",
      hint: "try again later"),
    Case(
      status: 500, body: #"{"error": {"message": "it\nbroke\u0007 ."}}"#, code: .originUnreachable,
      message: "http@a.example failed to serve \(subject) (500): it broke", hint: "try again later"),
    Case(
      status: 503, body: "<!DOCTYPE html><html><body>Down</body></html>", fields: ["Content-Type": "text/html"],
      code: .originUnreachable, message: "http@a.example failed to serve \(subject) (503)",
      hint: "try again later"),
    Case(
      status: 504, body: #"{"status_code": 24, "status_message": ""}"#, code: .originUnreachable,
      message: "http@a.example failed to serve \(subject) (504)", hint: "try again later"),
    Case(
      status: 408, body: #"{"title": "Timeout", "detail": "too slow"}"#, code: .originUnreachable,
      message: "http@a.example failed to serve \(subject) (408): too slow", hint: "try again later"),
    Case(
      status: 301, fields: ["Location": "http://b.example:8080/new?q=1"], code: .invalidAnswer,
      message: "http@a.example redirects \(subject) elsewhere (301)", hint: "\(moved) http://b.example:8080"),
    Case(
      status: 302, fields: ["Location": "ftp://user:word@b.example/"], code: .invalidAnswer,
      message: "http@a.example redirects \(subject) elsewhere (302)", hint: "\(moved) ftp://b.example"),
    Case(
      status: 307, code: .invalidAnswer, message: "http@a.example redirects \(subject) elsewhere (307)", hint: moved),
    Case(status: 206, code: .invalidAnswer, message: "\(odd) (206)", hint: "check the base URL of this origin"),
    Case(status: 405, code: .invalidAnswer, message: "\(odd) (405)", hint: "check the base URL of this origin"),
  ]

  @Test(arguments: cases) func aFailingStatusNamesTheFailureAndAdvice(example: Case) async throws {
    let error = try await answer(FakeTransfer(example.status, example.fields, example.body))
    #expect(error?.code == example.code)
    #expect(error?.message == example.message)
    #expect(error?.hint == example.hint)
  }

  @Test(arguments: [401, 403]) func aRefusedSecretIsToBeChecked(status: Int) async throws {
    for (credentials, secretFields) in [
      (OriginCredentials.tmdb("k"), HTTP.Fields()), (.bearerToken("t"), HTTP.Fields()), (.none, ["X-Key": "k"]),
    ] as [(OriginCredentials, HTTP.Fields)] {
      let server = try server(
        "https://a.example", FakeTransfer(status), credentials: credentials, secretFields: secretFields)
      let error = await failure { () throws(CacheError) in
        _ = try await HTTPCityOrigin(server).answer(to: Asked.cities(), conditions: [:])
      }
      #expect(error?.hint == "check the key, token or headers that the configuration gives this origin")
    }
  }

  @Test(arguments: Array(100..<200) + Array(300..<600).filter { $0 != 304 })
  func everyStatusOfFailureIsAnError(status: Int) async throws {
    for body in ["", Self.tmdb, "{", "\u{0}", String(repeating: "[", count: 10_000)] {
      let error = try await answer(FakeTransfer(status, [:], body))
      #expect(error?.message.contains("\(status)") == true)
      #expect(error?.message.hasSuffix(".") == false)
      #expect(error?.hint.isEmpty == false)
    }
  }

  @Test func aLongMessageIsCut() async throws {
    let body = #"{"message": "\#(String(repeating: "a", count: 10_000))"}"#
    let message = try #require(try await answer(FakeTransfer(500, [:], body))?.message)
    #expect(message.hasSuffix("aaa…") && message.count < 300)
  }

  @Test(arguments: [CacheError.cancelled, CacheError(.originUnreachable, "no connection", hint: "look at the network")])
  func theMessageOfTheTransferIsPassedOn(error: CacheError) async throws {
    let passed = try await answer(FakeTransfer(failing: error))
    #expect(passed?.code == error.code)
    #expect(passed?.message == error.message)
    #expect(passed?.hint == error.hint)
  }

  @Test func aCancelledTaskAsksNothing() async throws {
    let transfer = FakeTransfer()
    let origin = HTTPCityOrigin(try server("https://a.example", transfer))
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return await failure { () throws(CacheError) in _ = try await origin.answer(to: Asked.cities(), conditions: [:]) }
    }
    #expect(await task.value?.code == .cancelled)
    #expect(transfer.requests.isEmpty)
  }
}

/// Reading an origin's JSON: each kind of value, and the position in the message about a wrong one.
struct AnswerValueTests {
  private static let body = #"""
    {"text": "a", "whole": 2, "fraction": 1.07, "flag": true, "list": [1, "x"], "rates": {"EUR": 1.07, "CHF": "one"},
     "huge": 1e999}
    """#

  private func read() throws(CacheError) -> AnswerValue {
    let response = HTTP.Response(HTTP.ResponseHead(status: 200, fields: [:]), body: Array(Self.body.utf8))
    return try AnswerValue(response, origin: "a server")
  }

  @Test func everyKindOfValue() throws {
    let json = try read()
    let fraction = try json.member("fraction").number
    let whole = try json.member("whole").number
    let flag = try json.member("flag").boolean
    let names = try json.member("rates").members.map(\.name)
    #expect(fraction == 1.07 && whole == 2 && flag && names == ["EUR", "CHF"])
  }

  @Test(arguments: [
    ("rates", "'rates.CHF' is not a number"), ("text", "'text' is not an object"), ("list", "'list' is not an object"),
  ])
  func aWrongValueIsNamed(member: String, text: String) {
    let error = #expect(throws: CacheError.self) {
      _ = try read().member(member).members.map { rate throws(CacheError) in try rate.value.number }
    }
    #expect(error?.code == .invalidAnswer && error?.message.contains(text) == true, "\(error?.message ?? "")")
  }

  @Test(arguments: [
    ("huge", "'huge' is too large"), ("text", "'text' is not a number"), ("flag", "'flag' is not a number"),
  ])
  func membersThatAreNotNumbers(member: String, text: String) {
    let error = #expect(throws: CacheError.self) { try read().member(member).number }
    #expect(error?.message.contains(text) == true)
    #expect(throws: CacheError.self) { try read().member("whole").boolean }
  }
}

/// A transfer with a response for every URL, usually the same one, which records its requests.
final class FakeTransfer: DataTransferService {
  private let result: Result<HTTP.Response, CacheError>
  private let others: [String: HTTP.Response]
  private let asked = Mutex<[HTTP.Request]>([])

  init(_ status: Int = 200, _ fields: HTTP.Fields = [:], _ body: String = "") {
    others = [:]
    result = .success(HTTP.Response(HTTP.ResponseHead(status: status, fields: fields), body: Array(body.utf8)))
  }

  init(_ response: HTTP.Response, but others: [String: HTTP.Response] = [:]) {
    result = .success(response)
    self.others = others
  }

  init(failing error: CacheError) {
    others = [:]
    result = .failure(error)
  }

  /// A transfer that responds with the JSON `body`.
  static func json(_ body: String, status: Int = 200) -> FakeTransfer {
    FakeTransfer(status, ["Content-Type": "application/json; charset=utf-8"], body)
  }

  /// The requests so far, in order.
  var requests: [HTTP.Request] { asked.withLock { $0 } }

  func transfer(_ request: HTTP.Request) async throws(CacheError) -> HTTP.Response {
    asked.withLock { $0.append(request) }
    if let other = others[request.url] { return other }
    return try result.get()
  }
}

/// A server at `url` that responds with `transfer`.
func server(
  _ url: String, _ transfer: FakeTransfer = FakeTransfer(), credentials: OriginCredentials = .none,
  fields: HTTP.Fields = [:], secretFields: HTTP.Fields = [:]
) throws -> OriginServer {
  OriginServer(
    try BaseURL(url), fields: fields, secretFields: secretFields, credentials: credentials, transfer: transfer)
}

extension HTTPOrigin {
  /// The request as it is sent without conditions, including its credentials.
  func httpRequest(for request: Request) throws(CacheError) -> HTTP.Request {
    server.httpRequest(for: try endpoint(for: request))
  }
}

/// The error of `body`; `nil` if it succeeds.
func failure(_ body: () async throws(CacheError) -> Void) async -> CacheError? {
  do throws(CacheError) {
    try await body()
    return nil
  } catch { return error }
}

/// Requests to the origins of each kind.
enum Asked {
  static let cities = CitiesQuery()

  static func cities(_ query: CitiesQuery = Asked.cities) -> CitiesRequestDTO {
    CitiesRequestDTO(origin: "o", query: query)
  }

  static func movies(_ text: String = "wire", page: Int = 1) throws -> MoviesRequestDTO {
    guard let query = MovieQuery(text) else { throw CacheError(.invalidRequest, "no query") }
    return MoviesRequestDTO(origin: "o", query: query, page: page)
  }

  static func poster(_ path: String = "/a.jpg", width: Int = 342) -> PosterRequestDTO {
    PosterRequestDTO(origin: "o", query: PosterQuery(path: path, width: width))
  }
}
