import CacheCore
import CacheData
import CacheDomain
import Testing

/// How servers' answers are understood before their bodies are read.
struct OriginAnswerTests {
  private static let subject = "page 0 of cities"
  private static let tmdb = #"{"success": false, "status_code": 7, "status_message": "Invalid API key."}"#

  private func answer(_ transfer: FakeTransfer) async throws -> CacheError? {
    let origin = HTTPCityOrigin(try server("https://a.example", transfer))
    return await failure { () throws(CacheError) in
      _ = try await origin.answer(to: Asked.cities(), conditions: [:])
    }
  }

  /// Nobody knows what it confirms.
  @Test func aConfirmationThatNobodyAskedForIsAnError() async throws {
    let origin = HTTPCityOrigin(try server("https://a.example", FakeTransfer(304)))
    let error = await #expect(throws: CacheError.self) {
      let snapshots = fetch(
        Asked.cities(), storage: RepositoryTests.Shelf<CitiesRequestDTO, CitiesPageDTO>(), origin: origin,
        services: .at1000(), options: FetchOptions(), toDomain: { $0 })
      for try await _ in snapshots {}
    }
    #expect(error?.code == .invalidAnswer && error?.message.contains("304") == true)
  }

  @Test func aConfirmationBringsItsHeadAndNoAnswer() async throws {
    let head = HTTPResponseHead(status: 304, fields: ["ETag": "\"2\"", "Cache-Control": "max-age=60"])
    let origin = HTTPCityOrigin(try server("https://a.example", FakeTransfer(HTTPResponse(head))))
    let answer = try await origin.answer(to: Asked.cities(), conditions: ["If-None-Match": "\"2\""])
    #expect(answer.head == head)
    #expect(answer.response == nil)
  }

  @Test func anAnswerBringsItsHead() async throws {
    let body = #"{"page": 0, "totalPages": 0, "totalItems": 0, "items": []}"#
    let head = HTTPResponseHead(status: 200, fields: ["ETag": "\"1\"", "Vary": "Accept", "vary": "Accept-Encoding"])
    let transfer = FakeTransfer(HTTPResponse(head, body: Array(body.utf8)))
    let origin = HTTPCityOrigin(try server("https://a.example", transfer))
    let answer = try await origin.answer(to: Asked.cities(), conditions: [:])
    #expect(answer.head == head)
    #expect(answer.response?.toDomain().cities.isEmpty == true)
  }

  /// A status, and what it means.
  struct Case: Sendable, CustomTestStringConvertible {
    let status: Int
    var body = ""
    var fields: HTTPFields = [:]
    let code: CacheError.Code
    let message: String
    let hint: String

    var testDescription: String { "\(status) \(body)" }
  }

  private static let refused = "give this origin a key or token in the configuration"
  private static let asked = "check what was asked for"
  private static let odd = "http@a.example answered for \(subject) with a status that means nothing here"
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
      code: .originUnreachable, message: "http@a.example failed to answer for \(subject) (503)",
      hint: "try again in 90 seconds"),
    Case(
      status: 503, fields: ["Retry-After": "Fri, 31 Dec 1999 23:59:59 GMT", "Date": "Sat, 01 Jan 2000 00:00:00 GMT"],
      code: .originUnreachable, message: "http@a.example failed to answer for \(subject) (503)",
      hint: "try again later"),
    Case(
      status: 500, body: #"{"error": {"message": "it\nbroke\u0007 ."}}"#, code: .originUnreachable,
      message: "http@a.example failed to answer for \(subject) (500): it broke", hint: "try again later"),
    Case(
      status: 503, body: "<!DOCTYPE html><html><body>Down</body></html>", fields: ["Content-Type": "text/html"],
      code: .originUnreachable, message: "http@a.example failed to answer for \(subject) (503)",
      hint: "try again later"),
    Case(
      status: 504, body: #"{"status_code": 24, "status_message": ""}"#, code: .originUnreachable,
      message: "http@a.example failed to answer for \(subject) (504)", hint: "try again later"),
    Case(
      status: 408, body: #"{"title": "Timeout", "detail": "too slow"}"#, code: .originUnreachable,
      message: "http@a.example failed to answer for \(subject) (408): too slow", hint: "try again later"),
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

  @Test(arguments: cases)
  func aFailingStatusSaysWhatFailedAndWhatToDo(example: Case) async throws {
    let error = try await answer(FakeTransfer(example.status, example.fields, example.body))
    #expect(error?.code == example.code)
    #expect(error?.message == example.message)
    #expect(error?.hint == example.hint)
  }

  @Test(arguments: [401, 403])
  func aRefusedSecretIsToBeChecked(status: Int) async throws {
    for (credentials, secretFields) in [
      (OriginCredentials.tmdb("k"), HTTPFields()), (.bearerToken("t"), HTTPFields()), (.none, ["X-Key": "k"]),
    ] as [(OriginCredentials, HTTPFields)] {
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
  func whatTheTransferSaysIsPassedOn(error: CacheError) async throws {
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
      return await failure { () throws(CacheError) in
        _ = try await origin.answer(to: Asked.cities(), conditions: [:])
      }
    }
    #expect(await task.value?.code == .cancelled)
    #expect(transfer.requests.isEmpty)
  }
}
