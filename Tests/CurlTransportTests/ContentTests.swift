import CacheCore
import FetchVocabulary
import HTTPCaching
import CurlTransport
import TestOrigin
import Testing

/// Content that is read while it arrives.
@Suite(.timeLimit(.minutes(30))) struct ContentTests {
  @Test func asksForNothingByItselfAndKeepsNothing() async throws {
    let server = try TestServer { _ in TestResponse(fields: ["Set-Cookie": "a=b", "Cache-Control": "max-age=60"], "hi")
    }
    let service = HTTPTransferService.plain()
    for _ in 1...2 { _ = try await service.transfer(HTTP.Request(url: server.url)) }
    #expect(server.requests.map { $0.fields.lines.map(\.name) } == [["Host"], ["Host"]])
    #expect(server.connectionCount == 1)
  }

  /// Only short content that says its length is in memory: it arrives at once.
  @Test(arguments: [true, false], [0, 100, 65_536, 65_537, 300_000])
  func contentIsReceivedWhenItIsRead(hasLength: Bool, size: Int) async throws {
    let content = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    let whole = TestResponse(body: .bytes(content))
    let server = try TestServer(script: [hasLength ? whole : whole.chunked(50)])
    let response = try await HTTPTransferService.plain().transfer(HTTP.Request(url: server.url))
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
    let response = try await HTTPTransferService.plain().transfer(HTTP.Request(method: method, url: server.url))
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
    let response = try await HTTPTransferService.plain().transfer(HTTP.Request(method: method, url: server.url))
    #expect(response.head.status == status && response.rest == nil && response.body.isEmpty)
  }

  /// Nobody will read the rest: the connection is closed.
  @Test func aRestThatIsReleasedEndsItsTransfer() async throws {
    let server = try TestServer { _ in TestResponse(body: .repeated([1], count: nil)) }
    let service = HTTPTransferService.plain()
    var response: HTTP.Response? = try await service.transfer(HTTP.Request(url: server.url))
    #expect(try await response?.rest?.next() != nil)
    response = nil
    await server.abandoned(1)
    let other = try await service.transfer(HTTP.Request(url: server.url))
    other.rest?.release()
    await server.abandoned(2)
    let error = await #expect(throws: CacheError.self) { try await other.rest?.next() }
    #expect(error?.code == .cancelled)
  }

  /// If the length of the content is known, the part that arrived can be kept, and continued later.
  @Test(arguments: [(true, 80, 40), (true, 80, 0), (false, 80, 40), (true, 80_000, 70_000)])
  func theArrivedPartOfABrokenResponseIsReported(hasLength: Bool, size: Int, count: Int) async throws {
    let whole = TestResponse(fields: ["ETag": "\"1\""], body: .bytes([UInt8](repeating: 1, count: size)))
    let server = try TestServer(script: [(hasLength ? whole : whole.chunked(10)).cut(after: count)])
    let error = await #expect(throws: CacheError.self) { try await HTTPTransferService.plain().get(server.url) }
    #expect(error?.code == .originUnreachable)
    let response = (error?.cause as? IncompleteResponse)?.response
    #expect(response?.body.count == (hasLength ? count : nil))
    #expect(response?.head.fields["etag"] == (hasLength ? "\"1\"" : nil) && response?.rest == nil)
  }

  /// Content is gathered up to a limit. Longer content can still be read.
  @Test(arguments: [true, false], [99, 100, 101]) func gatheringEndsAtALimit(hasLength: Bool, size: Int) async throws {
    let whole = TestResponse(body: .bytes([UInt8](repeating: 1, count: size + 100_000))).trailing(["Sum": "1"])
    let server = try TestServer(script: [hasLength ? TestResponse(body: whole.body) : whole])
    let response = try await HTTPTransferService.plain().get(server.url, limit: 100_100)
    #expect((response.rest == nil) == (size <= 100))
    #expect(response.body.isEmpty == (size > 100 && hasLength))
    var received = response.body
    while let bytes = try await response.rest?.next() { received += bytes }
    #expect(received.count == size + 100_000)
    #expect((response.rest?.trailers ?? response.trailers)["sum"] == (hasLength ? nil : "1"))
  }
}
