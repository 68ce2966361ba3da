import CacheCore
import FetchVocabulary
import HTTPCaching
import CurlTransport
import TestOrigin
import Testing

/// Transfers that fail: each has its code and its words, and none of them a secret.
@Suite(.timeLimit(.minutes(30)))
struct TransferFailureTests {
  /// What a server does, and which error that is.
  struct Failure: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let response: TestResponse
    let code: CacheError.Code
    let words: String

    static let all = [
      Failure(
        testDescription: "cut short", response: TestResponse("hello").cut(after: 2), code: .originUnreachable,
        words: "broke off"),
      Failure(
        testDescription: "claims more", response: TestResponse("hello").claiming(length: 9), code: .originUnreachable,
        words: "broke off"),
      Failure(
        testDescription: "cut short in chunks", response: TestResponse("hello").chunked(2).cut(after: 3),
        code: .originUnreachable, words: "broke off"),
      Failure(testDescription: "hangs up", response: .hangUp, code: .originUnreachable, words: "broke off"),
      Failure(
        testDescription: "no HTTP", response: .raw("SSH-2.0-x\r\n"), code: .invalidAnswer, words: "no valid HTTP"),
      Failure(
        testDescription: "a header field of a megabyte",
        response: TestResponse(fields: ["X-Large": String(repeating: "a", count: 1 << 20)], "hello"),
        code: .invalidAnswer, words: "a header that is too long"),
      Failure(
        testDescription: "announces too much",
        response: TestResponse(body: .repeated([1], count: 1 << 30)), code: .invalidAnswer,
        words: "larger than 100 bytes"),
      Failure(
        testDescription: "never ends", response: TestResponse(body: .repeated([1], count: nil)).chunked(),
        code: .invalidAnswer, words: "larger than 100 bytes"),
    ]
  }

  @Test(arguments: Failure.all)
  func failingAnswers(_ failure: Failure) async throws {
    let server = try TestServer(script: [failure.response])
    try await expect(failure.code, failure.words, server.url)
  }

  @Test func silentServer() async throws {
    let server = try TestServer(script: [TestResponse("never").held(by: try TestGate())])
    try await expect(.originUnreachable, "did not answer within", server.url, timeout: .seconds(3))
    await server.abandoned(1)
  }

  @Test func serverThatStopsInTheMiddle() async throws {
    let server = try TestServer(script: [TestResponse("never").contentHeld(by: try TestGate())])
    try await expect(.originUnreachable, "was not complete within 3.0 seconds", server.url, timeout: .seconds(3))
    await server.abandoned(1)
  }

  /// A limit for each wait, and one for the whole transfer.
  @Test(
    arguments: [(3, nil, "sent nothing more for 3.0 seconds"), (1_800, 3, "was not complete within 3.0 seconds")]
      as [(Int, Int?, String)])
  func serverThatStopsInTheMiddleOfAStream(timeout: Int, total: Int?, words: String) async throws {
    let server = try TestServer(script: [TestResponse("never").contentHeld(by: try TestGate())])
    let service = HTTPTransferService(
      timeout: .seconds(timeout), totalTimeout: total.map { .seconds($0) }, content: .streamed
    ) { _ in nil }
    let error = await #expect(throws: CacheError.self) { try await service.transfer(HTTPRequest(url: server.url)) }
    #expect(error?.code == .originUnreachable && error?.message.contains(words) == true, "\(String(describing: error))")
    await server.abandoned(1)
  }

  /// libcurl may end a transfer a moment before the limit.
  @Test(arguments: 1...8)
  func theLimitOfAWholeTransferIsNamed(_ attempt: Int) async throws {
    let server = try TestServer(script: [TestResponse("never").contentHeld(by: try TestGate())])
    let service = HTTPTransferService(
      timeout: .seconds(30), totalTimeout: .milliseconds(300), content: .streamed
    ) { _ in nil }
    let error = await #expect(throws: CacheError.self) { try await service.transfer(HTTPRequest(url: server.url)) }
    #expect(error?.message.contains("within 0.3 seconds") == true, "\(String(describing: error))")
  }

  @Test func closedPort() async throws {
    let port = try ClosedPort()
    try await expect(.originUnreachable, "refuses the connection", port.url)
  }

  @Test func untrustedCertificate() async throws {
    let server = try SelfSignedServer()
    try await expect(.originUnreachable, "no secure connection", server.url)
  }

  @Test func serverWithoutTLS() async throws {
    let server = try TestServer(script: [TestResponse("hi")])
    try await expect(.originUnreachable, "no secure connection", "https://127.0.0.1:\(server.port)")
  }

  @Test(arguments: [
    ("http://no-such-host.invalid", CacheError.Code.originUnreachable, "no-such-host.invalid"),
    ("ftp://127.0.0.1", .invalidRequest, "no URL"),
    ("http://", .invalidRequest, "no URL"),
    ("", .invalidRequest, "no URL"),
    ("http://[::1]:1", .originUnreachable, "[::1]:1 refuses the connection"),
    ("http://name:hidden@127.0.0.1:1", .invalidRequest, "credentials"),
  ])
  func unusableURLs(_ url: String, _ code: CacheError.Code, _ words: String) async throws {
    try await expect(code, words, url)
  }

  @Test(arguments: [
    HTTPRequest(url: "http://127.0.0.1:1/", fields: ["X-A": "b\r\nX-C: d"]),
    HTTPRequest(url: "http://127.0.0.1:1/", fields: ["X A": "b"]),
    HTTPRequest(url: "http://127.0.0.1:1/", fields: ["": "b"]),
    HTTPRequest(method: "GET /x HTTP/1.1\r\n", url: "http://127.0.0.1:1/"),
  ])
  func requestsThatHTTPDoesNotAllow(_ request: HTTPRequest) async {
    let error = await #expect(throws: CacheError.self) { try await transferService().transfer(request) }
    #expect(error?.code == .invalidRequest)
  }

  /// A program that has settings for the limits names them.
  @Test(arguments: [
    (
      LimitSettings(timeout: "a.timeout", size: "a.size"), "raise a.size if the content is right",
      "try again later, or raise a.timeout"
    ),
    (LimitSettings(), "raise the limit if the content is right", "try again later"),
  ])
  func aLimitIsNamedByItsSetting(settings: LimitSettings, size: String, time: String) async throws {
    let large = try TestServer(script: [TestResponse("too large")])
    let silent = try TestServer(script: [TestResponse("never").held(by: try TestGate())])
    for (server, hint) in [(large, size), (silent, time)] {
      let service = HTTPTransferService(timeout: .seconds(3), content: .whole(limit: 3), settings: settings) { _ in nil
      }
      let error = await #expect(throws: CacheError.self) {
        try await service.transfer(HTTPRequest(url: server.url + "/"))
      }
      #expect(error?.hint == hint, "\(String(describing: error))")
    }
    await silent.abandoned(1)
  }

  private func expect(
    _ code: CacheError.Code, _ words: String, _ url: String, timeout: Duration = .seconds(30)
  ) async throws {
    let request = HTTPRequest(url: url + "/a?api_key=hidden", fields: ["Authorization": "Bearer hidden"])
    let error = await #expect(throws: CacheError.self) {
      try await transferService(timeout: timeout).transfer(request)
    }
    #expect(error?.code == code)
    #expect(error?.message.contains(words) == true, "\(String(describing: error))")
    #expect(!String(describing: error).contains("hidden"))
  }
}
