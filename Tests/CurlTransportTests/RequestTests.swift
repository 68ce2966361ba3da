import CacheBase
import HTTPCaching
import TestOrigin
import Testing
import CurlTransport

/// Requests as they arrive at a server.
@Suite(.timeLimit(.minutes(10))) struct RequestTests {
  /// A request, and the lines that arrive after `Host`.
  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    var method = "GET"
    var path = "/"
    var fields: HTTP.Fields = [:]
    var content: [UInt8] = []
    var stream: StreamedContent?
    var arrives: TestFields = [:]
    var body = ""

    var testDescription: String { name }

    static let all = [
      Case(name: "nothing that was not asked for"),
      Case(name: "a path as it is", path: "/a/../b/./c//%7e?x=1&y=%20;'\"<>|"),
      Case(
        name: "fields in order",
        fields: ["X-B": "1", "x-a": "2", "X-B": "3", "Accept": "text/plain", "User-Agent": "u"],
        arrives: ["X-B": "1", "x-a": "2", "X-B": "3", "Accept": "text/plain", "User-Agent": "u"]),
      Case(name: "an empty field", fields: ["X": "", "Accept": ""], arrives: ["X": "", "Accept": ""]),
      Case(name: "UTF-8", fields: ["X": "café"], arrives: ["X": "café"]),
      Case(name: "a range", fields: ["Range": "bytes=0-1"], arrives: ["Range": "bytes=0-1"]),
      Case(name: "codings", fields: ["Accept-Encoding": "zstd"], arrives: ["Accept-Encoding": "zstd"]),
      Case(name: "cookies", fields: ["Cookie": "a=b"], arrives: ["Cookie": "a=b"]),
      Case(name: "credentials", fields: ["Authorization": "Bearer x"], arrives: ["Authorization": "Bearer x"]),
      Case(
        name: "bytes", method: "POST", content: [0, 0x7F, 10], arrives: ["Content-Length": "3"], body: "\0\u{7F}\n"),
      Case(name: "a method in small letters", method: "get"), Case(name: "a method of its own", method: "PURGE"),
      Case(name: "head", method: "HEAD"), Case(name: "options", method: "OPTIONS"),
      Case(name: "delete", method: "DELETE"),
      Case(name: "post without content", method: "POST", arrives: ["Content-Length": "0"]),
      Case(name: "post", method: "POST", content: Array("a=b\n".utf8), arrives: ["Content-Length": "4"], body: "a=b\n"),
      Case(
        name: "put", method: "PUT", fields: ["Content-Type": "text/plain"], content: Array("a".utf8),
        arrives: ["Content-Type": "text/plain", "Content-Length": "1"], body: "a"),
      Case(name: "get with content", content: Array("query".utf8), arrives: ["Content-Length": "5"], body: "query"),
      Case(
        name: "a length at its place", method: "POST", fields: ["A": "1", "Content-Length": "2", "B": "2"],
        content: Array("hi".utf8), arrives: ["A": "1", "Content-Length": "2", "B": "2"], body: "hi"),
      Case(
        name: "a stream of known length", method: "POST", stream: .pieces(["one ", "", "two"], length: 7),
        arrives: ["Content-Length": "7"], body: "one two"),
      Case(
        name: "a stream", method: "POST", stream: .pieces(["one ", "two"], length: nil),
        arrives: ["Transfer-Encoding": "chunked"], body: "one two"),
      Case(
        name: "an empty stream", method: "POST", stream: .pieces([], length: nil),
        arrives: ["Transfer-Encoding": "chunked"]),
    ]
  }

  @Test(arguments: Case.all) func requestsArriveUnchanged(_ example: Case) async throws {
    let server = try TestServer { _ in TestResponse(status: 204) }
    let request = HTTP.Request(
      method: example.method, url: server.url + example.path, fields: example.fields, body: example.content,
      stream: example.stream)
    #expect(try await HTTPTransferService.plain().transfer(request).body.isEmpty)
    let received = try #require(server.requests.first)
    #expect(received.method == example.method)
    #expect(received.target == example.path)
    #expect(received.fields.lines.first?.name == "Host")
    #expect(
      received.fields.lines.dropFirst().map { "\($0.name): \($0.value)" }
        == example.arrives.lines.map { "\($0.name): \($0.value)" })
    #expect(String(decoding: received.body, as: UTF8.self) == example.body)
  }

  @Test func theCallersHost() async throws {
    let server = try TestServer { _ in TestResponse(status: 204) }
    _ = try await HTTPTransferService.plain().transfer(HTTP.Request(url: server.url, fields: ["Host": "example.com"]))
    #expect(server.requests.first?.fields.values("Host") == ["example.com"])
  }

  @Test func bytesThatAreNotText() async throws {
    let tag = "HTTP/1.1 200 OK\r\nETag: \"".utf8 + [0xE9] + "\"\r\nContent-Length: 0\r\n\r\n".utf8
    let server = try TestServer(script: [.raw(bytes: Array(tag)), TestResponse(status: 304)])
    let service = HTTPTransferService.plain()
    let found = try #require(try await service.get(server.url).head.fields["ETag"])
    _ = try await service.transfer(HTTP.Request(url: server.url, fields: ["If-None-Match": found]))
    // The server reads UTF-8: an invalid byte becomes one replacement character rather than two letters.
    #expect(server.requests.last?.fields["If-None-Match"] == "\"\u{FFFD}\"")
  }

  /// Requests that are refused before anything is sent, and a word of the error.
  @Test(arguments: [
    (HTTP.Request(url: ""), "not a URL"), (HTTP.Request(url: "http://"), "not a URL"),
    (HTTP.Request(url: "http:///a"), "not a URL"),
    (HTTP.Request(url: "ftp://localhost/"), "not a URL"), (HTTP.Request(url: "file:///etc/passwd"), "not a URL"),
    (HTTP.Request(url: "localhost"), "not a URL"), (HTTP.Request(url: "http://localhost/a b"), "spaces"),
    (HTTP.Request(url: "http://localhost/a\r\nb"), "spaces"),
    (HTTP.Request(url: "http://localhost:99999/"), "not a URL"),
    (HTTP.Request(url: "http://a:hidden@localhost/"), "credentials"),
    (HTTP.Request(method: "", url: "http://localhost/"), "the method"),
    (HTTP.Request(method: "G T", url: "http://localhost/"), "the method"),
    (HTTP.Request(method: "CONNECT", url: "http://localhost/"), "CONNECT"),
    (HTTP.Request(url: "http://localhost/", fields: ["": "b"]), "the name of a header field"),
    (HTTP.Request(url: "http://localhost/", fields: ["X:A": "b"]), "the name of a header field"),
    (HTTP.Request(url: "http://localhost/", fields: ["X": "a\r\nB: c"]), "control characters"),
    (HTTP.Request(url: "http://localhost/", fields: ["X": "a\0b"]), "control characters"),
    (HTTP.Request(url: "http://localhost/", fields: ["Transfer-Encoding": "chunked"]), "Transfer-Encoding"),
    (HTTP.Request(url: "http://localhost/", fields: ["Expect": "100-continue"]), "Expect"),
    (HTTP.Request(url: "http://localhost/", fields: ["Content-Length": "3"]), "Content-Length"),
    (HTTP.Request(method: "HEAD", url: "http://localhost/", body: [1]), "HEAD"),
  ])
  func refusedRequests(_ request: HTTP.Request, _ words: String) async {
    let error = await failure { () async throws(CacheError) in try await HTTPTransferService.plain().transfer(request) }
    Failure(code: .invalidRequest, words: words).expect(error)
  }
}
