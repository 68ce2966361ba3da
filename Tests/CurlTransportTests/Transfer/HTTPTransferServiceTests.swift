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

  /// Only short content that says its length is in memory: it arrives at once.
  @Test(arguments: [true, false], [0, 100, 65_536, 65_537, 300_000])
  func contentComesInAsItIsRead(hasLength: Bool, size: Int) async throws {
    let content = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    let whole = TestResponse(body: .bytes(content))
    let server = try TestServer(script: [hasLength ? whole : whole.chunked(50)])
    let response = try await transferService(.streamed).transfer(HTTPRequest(url: server.url))
    #expect((response.rest == nil) == (hasLength && size <= 65_536))
    if let rest = response.rest { #expect(response.body.isEmpty && rest.length == (hasLength ? size : nil)) }
    var received = response.body
    while let bytes = try await response.rest?.next() { received += bytes }
    #expect(received == content)
  }

  /// The gate opens only after the response has been returned.
  @Test(arguments: ["no-store", "no-cache", "max-age=60"], ["GET", "POST"])
  func aResponseIsReturnedBeforeItsContentArrives(control: String, method: String) async throws {
    let gate = try TestGate()
    let held = TestResponse(fields: ["Cache-Control": control], "hello").chunked(2).contentHeld(by: gate)
    let server = try TestServer(script: [held])
    let response = try await transferService(.streamed).transfer(HTTPRequest(method: method, url: server.url))
    #expect(response.body.isEmpty)
    let rest = try #require(response.rest)
    gate.open()
    var received: [UInt8] = []
    while let bytes = try await rest.next() { received += bytes }
    #expect(received == Array("hello".utf8))
  }

  /// These have no content, whatever their fields say.
  @Test(arguments: [("HEAD", 200), ("GET", 204), ("GET", 304)])
  func aResponseWithoutContentHasNoRest(method: String, status: Int) async throws {
    let server = try TestServer(script: [.raw("HTTP/1.1 \(status) X\r\nContent-Length: 999999\r\n\r\n")])
    let response = try await transferService(.streamed).transfer(HTTPRequest(method: method, url: server.url))
    #expect(response.head.status == status && response.rest == nil && response.body.isEmpty)
  }

  /// Nobody will read the rest: the connection is closed.
  @Test func aRestThatIsReleasedEndsItsTransfer() async throws {
    let server = try TestServer { _ in TestResponse(body: .repeated([1], count: nil)) }
    let service = transferService(.streamed)
    var response: HTTPResponse? = try await service.transfer(HTTPRequest(url: server.url))
    #expect(try await response?.rest?.next() != nil)
    response = nil
    await server.abandoned(1)
    let other = try await service.transfer(HTTPRequest(url: server.url))
    other.rest?.release()
    await server.abandoned(2)
    let error = await #expect(throws: CacheError.self) { try await other.rest?.next() }
    #expect(error?.code == .cancelled)
  }

  @Test func contentThatBreaksOffIsAnErrorAfterWhatCame() async throws {
    let whole = TestResponse(body: .bytes([UInt8](repeating: 1, count: 200_000)))
    let server = try TestServer(script: [whole.cut(after: 150_000)])
    let response = try await transferService(.streamed).transfer(HTTPRequest(url: server.url))
    var received = response.body
    await #expect {
      while let bytes = try await response.rest?.next() { received += bytes }
    } throws: { ($0 as? CacheError)?.code == .originUnreachable }
    #expect(received.count == 150_000)
  }

  /// What came of content whose length is known can be kept, and continued later.
  @Test(arguments: [(true, 80, 40), (true, 80, 0), (false, 80, 40), (true, 80_000, 70_000)])
  func whatCameOfAnAnswerThatBreaksOffIsReported(hasLength: Bool, size: Int, count: Int) async throws {
    let whole = TestResponse(fields: ["ETag": "\"1\""], body: .bytes([UInt8](repeating: 1, count: size)))
    let server = try TestServer(script: [(hasLength ? whole : whole.chunked(10)).cut(after: count)])
    let error = await #expect(throws: CacheError.self) { try await gathered(HTTPRequest(url: server.url)) }
    #expect(error?.code == .originUnreachable)
    let response = (error?.cause as? IncompleteResponse)?.response
    #expect(response?.body.count == (hasLength ? count : nil))
    #expect(response?.head.fields["etag"] == (hasLength ? "\"1\"" : nil) && response?.rest == nil)
  }

  /// Content is gathered up to a limit. What is longer can still be read.
  @Test(arguments: [true, false], [99, 100, 101]) func gatheringEndsAtALimit(hasLength: Bool, size: Int) async throws {
    let whole = TestResponse(body: .bytes([UInt8](repeating: 1, count: size + 100_000))).trailing(["Sum": "1"])
    let server = try TestServer(script: [hasLength ? TestResponse(body: whole.body) : whole])
    let response = try await gathered(HTTPRequest(url: server.url), limit: 100_100)
    #expect((response.rest == nil) == (size <= 100))
    #expect(response.body.isEmpty == (size > 100 && hasLength))
    var received = response.body
    while let bytes = try await response.rest?.next() { received += bytes }
    #expect(received.count == size + 100_000)
    #expect((response.rest?.trailers ?? response.trailers)["sum"] == (hasLength ? nil : "1"))
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
/// Its timeout ends no test, however long a busy machine holds one up.
func transferService(
  _ content: HTTPTransferService.Content = .whole(limit: 100), timeout: Duration = .seconds(1_800)
) -> HTTPTransferService {
  HTTPTransferService(timeout: timeout, content: content) { _ in nil }
}

/// The response to `request`, gathered from what arrives.
func gathered(_ request: HTTPRequest, limit: Int = 1 << 20) async throws(CacheError) -> HTTPResponse {
  try await transferService(.streamed).transfer(request).gathered(limit: limit, for: request)
}
