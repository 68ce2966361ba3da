import CacheBase
import CacheCore
import CurlTransport
import FetchVocabulary
import HTTPCaching
import TestOrigin
import Testing

/// Responses that are invalid or incomplete, and unreachable servers: each case has its error code.
@Suite(.timeLimit(.minutes(10))) struct FailureTests {
  /// The behavior of a server, and the resulting error.
  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let response: TestResponse
    let failure: Failure
    /// The content that arrives before the failure.
    var body = ""

    init(_ name: String, _ response: TestResponse, _ failure: Failure, body: String = "") {
      (self.name, self.response, self.failure, self.body) = (name, response, failure, body)
    }

    var testDescription: String { name }

    static let all = [
      Case("a length cut short", TestResponse("hello").cut(after: 2), .cutOff, body: "he"),
      Case("a length too long", TestResponse("hello").claiming(length: 9), .cutOff, body: "hello"),
      Case("chunks cut short", TestResponse("hello").chunked(2).cut(after: 4), .cutOff, body: "hell"),
      Case(
        "a chunk cut short", .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhe"), .cutOff, body: "he"),
      Case("a chunk without a size", .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nhe\r\n"), .cutOff),
      Case("a header cut short", .raw("HTTP/1.1 200 OK\r\nContent-Le"), .cutOff),
      Case("a header without an end", .raw("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"), .cutOff),
      Case("an interim response alone", .raw("HTTP/1.1 103 Early Hints\r\n\r\n"), .cutOff),
      Case("nothing", .hangUp, .cutOff), Case("another protocol", .raw("SSH-2.0-x\r\n"), .invalidMessage),
      Case("HTTP/0.9", .raw("<html>hi</html>"), .invalidMessage),
      Case("another version", .raw("HTTP/7.1 200 OK\r\n\r\n"), .invalidMessage),
      Case("a status that is none", .raw("HTTP/1.1 OK\r\n\r\n"), .invalidMessage),
      Case("a length that is none", .raw("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\nhi"), .invalidMessage),
      Case("a length with a sign", .raw("HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nhi"), .invalidMessage),
      Case("a negative length", .raw("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nhi"), .invalidMessage),
      Case("two lengths", .raw("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nhi"), .invalidMessage),
      Case(
        "a length beyond all bounds", .raw("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nhi"),
        .invalidMessage),
      Case(
        "a coding of the transfer",
        .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"), .invalidMessage),
      Case(
        "another protocol that was not asked for", .raw("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nhi"),
        .invalidMessage), Case("a line without a colon", .raw("HTTP/1.1 200 OK\r\nContent\r\n\r\n"), .invalidMessage),
      Case("a line without a name", .raw("HTTP/1.1 200 OK\r\n: x\r\n\r\n"), .invalidMessage),
      Case(
        "a trailer without a colon",
        .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nX\r\n\r\n"), .invalidMessage,
        body: "hi"), Case("a zero byte in a header", .raw("HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n"), .invalidMessage),
      Case("a field of a megabyte", TestResponse(fields: ["X": String(repeating: "a", count: 1 << 20)]), .headTooLarge),
      Case("a thousand fields", .raw("HTTP/1.1 200 OK\r\n" + lines(1000)), .headTooLarge),
      Case(
        "endless interim responses", .raw(String(repeating: "HTTP/1.1 102 P\r\n" + lines(1), count: 1000)),
        .headTooLarge),
      Case(
        "a thousand trailers", .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + lines(1000)),
        .headTooLarge),
    ]

    private static func lines(_ count: Int) -> String {
      String(repeating: "X: \(String(repeating: "a", count: 1000))\r\n", count: count) + "\r\n"
    }
  }

  @Test(arguments: Case.all) func incompleteAndInvalidResponses(_ example: Case) async throws {
    let server = try TestServer(script: [example.response])
    var body: [UInt8] = []
    do throws(CacheError) {
      let response = try await HTTPTransferService.plain().transfer(HTTP.Request(url: server.url + "/?key=hidden"))
      body = response.body
      while let bytes = try await response.rest?.next() { body += bytes }
      Issue.record("\(response.head) \(String(decoding: body, as: UTF8.self))")
    } catch {
      example.failure.expect(error)
      #expect(error.message.contains("127.0.0.1:\(server.port) "))
      // A short body arrives at once, or not at all.
      if let part = error.cause as? IncompleteResponse { body = part.response.body }
    }
    #expect(String(decoding: body, as: UTF8.self) == example.body)
  }

  @Test func closedPort() async throws {
    let port = try ClosedPort()
    let words = "127.0.0.1:\(port.port) refuses the connection"
    Failure(code: .originUnreachable, words: words).expect(await failure(port.url))
    Failure(code: .originUnreachable, words: "[::1]:1 refuses the connection").expect(await failure("http://[::1]:1"))
  }

  @Test func unknownName() async { Failure.unknownName.expect(await failure("http://example.invalid")) }

  @Test func silentServer() async throws {
    let server = try TestServer(script: [TestResponse("never").held(by: try TestGate())])
    let service = HTTPTransferService.plain(timeout: .milliseconds(200), content: .whole(limit: 100))
    Failure(code: .originUnreachable, words: "did not respond within 0.2 seconds")
      .expect(await failure(server.url, service))
    await server.abandoned(1)
  }

  @Test func serverThatStopsWithinTheContent() async throws {
    let server = try TestServer(script: [TestResponse("never").contentHeld(by: try TestGate())])
    let service = HTTPTransferService.plain(timeout: .seconds(3), content: .whole(limit: 100))
    Failure(code: .originUnreachable, words: "was not complete within 3.0 seconds")
      .expect(await failure(server.url, service))
    await server.abandoned(1)
  }

  /// The limit for each wait is one for the connection too.
  @Test func serverThatNeverShakesHands() async throws {
    let server = try SilentPort()
    Failure(code: .originUnreachable, words: "did not respond within 0.2 seconds")
      .expect(await failure("https://127.0.0.1:\(server.port)", .plain(timeout: .milliseconds(200))))
    var options = TransportOptions()
    options.connectTimeout = .milliseconds(100)
    Failure(code: .originUnreachable, words: "no connection to 127.0.0.1:\(server.port) within 0.1 seconds")
      .expect(await failure("https://127.0.0.1:\(server.port)", .plain(options)))
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
    let error = await #expect(throws: CacheError.self) { try await service.transfer(HTTP.Request(url: server.url)) }
    #expect(error?.code == .originUnreachable && error?.message.contains(words) == true, "\(String(describing: error))")
    await server.abandoned(1)
  }

  /// libcurl may end a transfer a moment before the limit.
  @Test(arguments: 1...8) func theLimitOfAWholeTransferIsNamed(_ attempt: Int) async throws {
    let server = try TestServer(script: [TestResponse("never").contentHeld(by: try TestGate())])
    let service = HTTPTransferService(
      timeout: .seconds(30), totalTimeout: .milliseconds(300), content: .streamed
    ) { _ in nil }
    let error = await #expect(throws: CacheError.self) { try await service.transfer(HTTP.Request(url: server.url)) }
    #expect(error?.message.contains("within 0.3 seconds") == true, "\(String(describing: error))")
  }

  /// A program that has settings for the limits names them.
  @Test(arguments: [
    (
      LimitSettings(timeout: "a.timeout", size: "a.size"), "raise a.size if the content is right",
      "try again later, or raise a.timeout"
    ), (LimitSettings(), "raise the limit if the content is right", "try again later"),
  ])
  func aLimitIsNamedByItsSetting(settings: LimitSettings, size: String, time: String) async throws {
    let large = try TestServer(script: [TestResponse("too large")])
    let silent = try TestServer(script: [TestResponse("never").held(by: try TestGate())])
    for (server, hint) in [(large, size), (silent, time)] {
      let service = HTTPTransferService(timeout: .seconds(3), content: .whole(limit: 3), settings: settings) { _ in nil
      }
      let error = await #expect(throws: CacheError.self) {
        try await service.transfer(HTTP.Request(url: server.url + "/"))
      }
      #expect(error?.hint == hint, "\(String(describing: error))")
    }
    await silent.abandoned(1)
  }

  @Test(arguments: [
    (StreamedContent.pieces(["abc"], length: 4), "it has 3 bytes instead of the announced 4"),
    (.pieces(["abc", "def"], length: 4), "it is longer than the announced 4 bytes"),
    (StreamedContent { () throws(CacheError) in throw CacheError(.ioFailed, "no more") }, "no more"),
  ])
  func contentThatDiffersFromTheAnnouncedOne(_ content: StreamedContent, _ words: String) async throws {
    let server = try TestServer { _ in TestResponse(status: 204) }
    let error = await CurlTransportTests.failure { () async throws(CacheError) in
      try await HTTPTransferService.plain().transfer(HTTP.Request(method: "POST", url: server.url, stream: content))
    }
    Failure(code: .ioFailed, words: words).expect(error)
  }

  private func failure(_ url: String, _ service: HTTPTransferService = .plain()) async -> CacheError? {
    await CurlTransportTests.failure { () async throws(CacheError) in try await service.get(url) }
  }
}

/// The head of the response to an unsafe request is reported, whatever becomes of its content: a cache must act on it.
@Suite(.timeLimit(.minutes(30))) struct UnsafeHeadTests {
  private static let whole = TestResponse(
    status: 201, fields: ["Location": "/b"], body: .bytes([UInt8](repeating: 1, count: 80)))
  private static let endings = [
    whole.cut(after: 40), whole.cut(after: 0), whole.chunked(10).cut(after: 40), whole.claiming(length: 90),
  ]

  private func head(_ error: CacheError?) -> HTTP.ResponseHead? { (error?.cause as? IncompleteResponse)?.response.head }

  @Test(arguments: ["POST", "PUT", "DELETE", "PATCH", "MKCOL"], endings.indices)
  func contentThatBreaksOff(method: String, row: Int) async throws {
    for content in [HTTPTransferService.Content.whole(limit: 100), .streamed] {
      let server = try TestServer(script: [Self.endings[row]])
      let request = HTTP.Request(method: method, url: server.url)
      let error = await #expect(throws: CacheError.self) {
        try await HTTPTransferService.plain(content: content).transfer(request).gathered(limit: 100, for: request)
      }
      #expect(error?.code == .originUnreachable)
      #expect(head(error)?.status == 201 && head(error)?.fields["location"] == "/b")
    }
  }

  @Test(arguments: [true, false]) func contentThatIsTooLarge(isChunked: Bool) async throws {
    let server = try TestServer(script: [isChunked ? Self.whole.chunked(10) : Self.whole])
    let error = await #expect(throws: CacheError.self) {
      try await HTTPTransferService.plain(content: .whole(limit: 79)).transfer(
        HTTP.Request(method: "POST", url: server.url))
    }
    #expect(error?.code == .invalidAnswer && head(error)?.status == 201)
  }

  @Test func contentThatCannotBeDecoded() async {
    let damaged = HTTP.Response(HTTP.ResponseHead(status: 200, fields: ["Content-Encoding": "gzip"]), body: [1, 2, 3])
    let service = DecodingTransferService(DamagedTransfer(response: damaged), maxResponseBytes: 100)
    for (method, status) in [("POST", 200), ("GET", nil)] {
      let error = await #expect(throws: CacheError.self) {
        try await service.transfer(HTTP.Request(method: method, url: "http://a.example/"))
      }
      #expect(error?.code == .invalidAnswer && head(error)?.status == status)
    }
  }

  /// The received part of the response to a safe request is of use only if its length is known.
  @Test func theHeadOfASafeRequestIsNot() async throws {
    let server = try TestServer(script: [Self.whole.chunked(10).cut(after: 40)])
    let error = await #expect(throws: CacheError.self) { try await HTTPTransferService.plain().get(server.url) }
    #expect(error?.cause == nil)
  }

  private struct DamagedTransfer: DataTransferService {
    let response: HTTP.Response

    func transfer(_ request: HTTP.Request) async throws(CacheError) -> HTTP.Response { response }
  }
}
