import TestOrigin
import Testing

/// The ways in which the server answers badly, byte by byte.
@Suite struct MisbehaviourTests {
  /// A way to answer, and what then stands on the wire.
  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let response: TestResponse
    var field: String? = nil
    let content: String

    var testDescription: String { name }
  }

  static let hello = TestResponse("hello")
  static let cases = [
    Case(
      name: "chunks", response: hello.chunked(2), field: "Transfer-Encoding: chunked",
      content: "2\r\nhe\r\n2\r\nll\r\n1\r\no\r\n0\r\n\r\n"),
    Case(
      name: "chunks cut short", response: hello.chunked(2).cut(after: 3), field: "Transfer-Encoding: chunked",
      content: "2\r\nhe\r\n1\r\nl\r\n"),
    Case(name: "a length cut short", response: hello.cut(after: 2), field: "Content-Length: 5", content: "he"),
    Case(name: "a length too long", response: hello.claiming(length: 9), field: "Content-Length: 9", content: "hello"),
    Case(name: "a length too short", response: hello.claiming(length: 2), field: "Content-Length: 2", content: "hello"),
    Case(name: "no length", response: hello.untilClose(), field: "Connection: close", content: "hello"),
    Case(name: "a redirect", response: .redirect(to: "/there"), field: "Location: /there", content: ""),
    Case(
      name: "too many requests", response: .tooManyRequests(retryAfter: "3"), field: "Retry-After: 3", content: "{}"),
    Case(
      name: "a page", response: TestResponse(status: 503, "<p>", type: "text/html"), field: "Content-Type: text/html",
      content: "<p>"),
  ]

  @Test(arguments: cases)
  func theWireHasWhatWasAskedFor(_ example: Case) throws {
    let answer = try RawClient.answer(of: try TestServer(script: [example.response]))
    #expect(answer.hasPrefix("HTTP/1.1 \(example.response.status) "))
    #expect(answer.content == example.content)
    if let field = example.field { #expect(answer.contains("\r\n\(field)\r\n"), "\(answer)") }
  }

  @Test func withoutATimeToRetryThereIsNoField() throws {
    let server = try TestServer(script: [.tooManyRequests(retryAfter: nil)])
    #expect(try !RawClient.answer(of: server).contains("Retry-After"))
  }

  @Test(arguments: [(TestResponse.hangUp, ""), (TestResponse.raw("SSH-2.0-OpenSSH\r\n"), "SSH-2.0-OpenSSH\r\n")])
  func whatIsNoMessageEndsTheConnection(response: TestResponse, bytes: String) throws {
    let client = try RawClient(try TestServer(script: [response]))
    client.send("GET / HTTP/1.1\n\n")
    #expect(client.rest() == bytes)
  }

  @Test(arguments: [
    ("If-None-Match: W/\"1\"", 304), ("If-None-Match: \"0\", \"1\"", 304), ("If-None-Match: *", 304),
    ("If-None-Match: \"2\"", 200), ("If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT", 304),
    ("If-Modified-Since: Sun, 06 Nov 1994 08:49:36 GMT", 200), ("X: y", 200),
  ])
  func conditionsAreAnswered(field: String, status: Int) throws {
    let fields: TestFields = ["ETag": "W/\"1\"", "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"]
    let server = try TestServer { TestResponse(fields: fields, "hello").validated(for: $0) }
    let answer = try RawClient.answer(of: server, to: "GET / HTTP/1.1", field)
    #expect(answer.hasPrefix("HTTP/1.1 \(status) "))
    #expect(answer.contains("ETag: W/\"1\"") && answer.content == (status == 304 ? "" : "hello"))
  }

  @Test(arguments: [("\"1\"", "\"1-gzip\""), ("W/\"1\"", "W/\"1\""), (nil, nil)])
  func anotherCodingHasAnotherStrongTag(tag: String?, other: String?) {
    var response = Self.hello
    response.fields["ETag"] = tag
    #expect(response.gzipped().fields["ETag"] == other && response.gzipped().fields["Content-Encoding"] == "gzip")
  }

  @Test(arguments: [1 << 30, nil])
  func hugeContentStopsWhenThePeerGoes(size: Int?) async throws {
    let body = TestBody.repeated(Array("0123456789".utf8), count: size)
    let server = try TestServer(script: [TestResponse(body: body)])
    do {
      let client = try RawClient(server)
      client.send("GET / HTTP/1.1\n\n")
      let head = client.text(until: "\r\n\r\n")
      #expect(head.contains(size.map { "Content-Length: \($0)\r\n" } ?? "Transfer-Encoding: chunked\r\n"))
      #expect(!client.receive(100_000).isEmpty)
    }
    await server.abandoned(1)
    #expect(server.abandonedCount == 1)
  }

  @Test func patternsAreRepeatedUpToTheCount() throws {
    let server = try TestServer(script: [TestResponse(body: .repeated(Array("abc".utf8), count: 200_000))])
    let content = try RawClient.answer(of: server).content
    #expect(content.utf8.count == 200_000)
    #expect(zip(content.utf8, (0...).lazy.map { UInt8(ascii: "a") + UInt8($0 % 3) }).allSatisfy { $0 == $1 })
  }
}
