import CacheCore
import FetchVocabulary
import HTTPCaching
import CurlTransport
import TestOrigin
import Testing

/// Transfers from a server on the loopback interface that answers well.
@Suite(.timeLimit(.minutes(30)))
struct HTTPTransferServiceTests {
  /// An answer of the server, and what becomes of it.
  struct Answer: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let response: TestResponse
    var method = "GET"
    let status: Int
    /// The content; `nil` where it is no text.
    let body: String?
    var fields: [String: String?] = [:]

    static let all = [
      Answer(
        testDescription: "whole", response: TestResponse(fields: ["X-A": "b"], "hi"), status: 200, body: "hi",
        fields: ["x-a": "b", "content-length": "2"]),
      Answer(
        testDescription: "chunked", response: TestResponse("hi ho").chunked(2), status: 200, body: "hi ho",
        fields: ["transfer-encoding": "chunked"]),
      Answer(
        testDescription: "compressed", response: TestResponse(fields: ["ETag": "W/\"1\""], "hi").gzipped(),
        status: 200, body: nil, fields: ["content-encoding": "gzip", "etag": "W/\"1\""]),
      Answer(
        testDescription: "redirect", response: .redirect(to: "/b"), status: 302, body: "", fields: ["location": "/b"]),
      Answer(
        testDescription: "not modified", response: TestResponse(status: 304, fields: ["ETag": "\"1\""]), status: 304,
        body: "", fields: ["etag": "\"1\""]),
      Answer(
        testDescription: "head", response: .raw("HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n"), method: "HEAD",
        status: 200, body: "", fields: ["content-length": "999"]),
      Answer(
        testDescription: "unauthorised",
        response: TestResponse(status: 401, fields: ["WWW-Authenticate": "Basic realm=\"a\""], "no"), status: 401,
        body: "no"),
      Answer(testDescription: "busy", response: .html(503), status: 503, body: html(503)),
      Answer(
        testDescription: "repeated lines",
        response: .raw("HTTP/1.1 200 OK\r\nVary: A\r\nVary: B\r\nContent-Length: 0\r\n\r\n"), status: 200, body: "",
        fields: ["vary": "A, B"]),
      Answer(
        testDescription: "interim answer",
        response: .raw("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"),
        status: 200, body: "hi", fields: ["link": nil]),
      Answer(
        testDescription: "until the end", response: TestResponse("all of it").untilClose(), status: 200,
        body: "all of it"),
    ]

    private static func html(_ status: Int) -> String {
      guard case .bytes(let bytes) = TestResponse.html(status).body else { return "" }
      return String(decoding: bytes, as: UTF8.self)
    }
  }

  @Test(arguments: Answer.all)
  func answers(_ answer: Answer) async throws {
    let server = try TestServer(script: [answer.response])
    let response = try await transferService().transfer(HTTPRequest(method: answer.method, url: server.url + "/a"))
    #expect(response.head.status == answer.status)
    if let body = answer.body { #expect(String(decoding: response.body, as: UTF8.self) == body) }
    for (name, value) in answer.fields { #expect(response.head.fields[name] == value, "\(name)") }
    #expect(server.count == 1)
  }

  @Test(arguments: ["POST", "PUT", "DELETE", "PATCH", "PURGE"])
  func sendsMethodsAndContent(_ method: String) async throws {
    let server = try TestServer(script: [TestResponse(status: 204)])
    let request = HTTPRequest(
      method: method, url: server.url + "/a?b=c",
      fields: ["X-Test": "1", "X-Test": "2", "Accept-Encoding": "identity"],
      body: Array("content".utf8))
    #expect(try await transferService().transfer(request).head.status == 204)
    let received = try #require(server.requests.first)
    #expect(received.method == method)
    #expect(received.target == "/a?b=c")
    #expect(received.body == Array("content".utf8))
    #expect(received.fields["X-Test"] == "1, 2")
    #expect(received.fields["Accept-Encoding"] == "identity")
  }

  @Test func asksForNothingByItselfAndKeepsNothing() async throws {
    let server = try TestServer { _ in
      TestResponse(fields: ["Set-Cookie": "a=b", "Cache-Control": "max-age=60"], "hi")
    }
    let service = transferService()
    for _ in 1...2 { _ = try await service.transfer(HTTPRequest(url: server.url)) }
    #expect(server.requests.map { $0.fields.lines.map(\.name) } == [["Host"], ["Host"]])
    #expect(server.connectionCount == 1)
  }

  @Test func cancellationClosesTheConnection() async throws {
    let server = try TestServer(script: [TestResponse("never").held(by: try TestGate())])
    let service = transferService()
    let task = Task { try await service.transfer(HTTPRequest(url: server.url)) }
    await server.received(1)
    task.cancel()
    let error = await #expect(throws: CacheError.self) { try await task.value }
    #expect(error?.code == .cancelled)
    await server.abandoned(1)
  }

  @Test func cancelledTaskSendsNothing() async throws {
    let server = try TestServer(script: [TestResponse("never")])
    let service = transferService()
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      return try await service.transfer(HTTPRequest(url: server.url))
    }
    task.cancel()
    let error = await #expect(throws: CacheError.self) { try await task.value }
    #expect(error?.code == .cancelled)
    #expect(server.count == 0)
  }

  /// What is longer than is held in memory comes in as it is read; nothing is held back of what says its length.
  @Test(arguments: [true, false], [100, 101, 300_000])
  func longContentComesInAsItIsRead(hasLength: Bool, size: Int) async throws {
    let content = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    let whole = TestResponse(body: .bytes(content))
    let server = try TestServer(script: [hasLength ? whole : whole.chunked(50)])
    let response = try await transferService(excess: .streamed).transfer(HTTPRequest(url: server.url))
    #expect((response.rest == nil) == (size <= 100))
    if size > 100 {
      #expect(response.body.isEmpty == hasLength)
      #expect(response.rest?.length == (hasLength ? size : nil))
    }
    var received = response.body
    while let bytes = try await response.rest?.next() { received += bytes }
    #expect(received == content)
  }

  /// What no cache may store is returned before its content arrives. The gate opens only afterwards.
  @Test(
    arguments: [
      (["Cache-Control": "no-store"], "GET"), (["Vary": "*"], "GET"), ([:], "POST"),
      (["Content-Type": "text/event-stream", "Cache-Control": "no-cache"], "GET"),
    ] as [(TestFields, String)])
  func contentThatMayNotBeStoredComesInAsItIsRead(fields: TestFields, method: String) async throws {
    let gate = try TestGate()
    let server = try TestServer(script: [TestResponse(fields: fields, "hello").chunked(2).contentHeld(by: gate)])
    let service = HTTPTransferService(timeout: .seconds(1_800), excess: .streamed, passesOnUnstorable: true) { _ in nil
    }
    let response = try await service.transfer(HTTPRequest(method: method, url: server.url))
    #expect(response.body.isEmpty && response.rest != nil)
    gate.open()
    var received: [UInt8] = []
    while let bytes = try await response.rest?.next() { received += bytes }
    #expect(received == Array("hello".utf8))
  }

  /// What may be stored is gathered, and so is short content of a known length.
  @Test(
    arguments: [(["Cache-Control": "no-store"], true), (["Cache-Control": "max-age=5"], false)] as [(TestFields, Bool)])
  func otherContentIsGathered(fields: TestFields, hasLength: Bool) async throws {
    let whole = TestResponse(fields: fields, "hello")
    let server = try TestServer(script: [hasLength ? whole : whole.chunked(2)])
    let service = HTTPTransferService(timeout: .seconds(1_800), excess: .streamed, passesOnUnstorable: true) { _ in nil
    }
    let response = try await service.transfer(HTTPRequest(url: server.url))
    #expect(response.rest == nil && response.body == Array("hello".utf8))
  }

  @Test func longContentThatBreaksOffIsAnErrorAfterWhatCame() async throws {
    let server = try TestServer(script: [TestResponse(body: .bytes([UInt8](repeating: 1, count: 200))).cut(after: 150)])
    let response = try await transferService(excess: .streamed).transfer(HTTPRequest(url: server.url))
    var received = response.body
    await #expect {
      while let bytes = try await response.rest?.next() { received += bytes }
    } throws: { ($0 as? CacheError)?.code == .originUnreachable }
    #expect(received.count == 150)
  }

  /// What came of content whose length is known can be kept, and continued later.
  @Test(arguments: [(true, 40), (true, 0), (false, 40)])
  func whatCameOfAnAnswerThatBreaksOffIsReported(hasLength: Bool, count: Int) async throws {
    let whole = TestResponse(fields: ["ETag": "\"1\""], body: .bytes([UInt8](repeating: 1, count: 80)))
    let server = try TestServer(script: [(hasLength ? whole : whole.chunked(10)).cut(after: count)])
    let error = await #expect(throws: CacheError.self) {
      try await transferService(excess: .streamed).transfer(HTTPRequest(url: server.url))
    }
    #expect(error?.code == .originUnreachable)
    let response = (error?.cause as? IncompleteResponse)?.response
    #expect(response?.body.count == (hasLength ? count : nil))
    #expect(response?.head.fields["etag"] == (hasLength ? "\"1\"" : nil))
  }

  @Test func manyTransfersAtOnceGetTheirOwnAnswers() async throws {
    let server = try TestServer { TestResponse($0.path) }
    let service = transferService()
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in 0..<50 {
        group.addTask {
          let response = try await service.transfer(HTTPRequest(url: "\(server.url)/\(number)"))
          return String(decoding: response.body, as: UTF8.self) == "/\(number)"
        }
      }
      for try await isOwn in group { #expect(isOwn) }
    }
    #expect(server.count == 50)
  }
}

/// A service that no variable of the environment reaches.
/// Its time-out ends no test, however long a busy machine holds one up.
func transferService(
  timeout: Duration = .seconds(1_800), limit: Int = 100, excess: HTTPTransferService.Excess = .refused
) -> HTTPTransferService {
  HTTPTransferService(timeout: timeout, limit: limit, excess: excess) { _ in nil }
}
