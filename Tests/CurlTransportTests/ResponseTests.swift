import CacheBase
import HTTPCaching
import TestOrigin
import Testing
import CurlTransport

/// Responses from good and bad servers: a valid response is returned as it arrived.
@Suite(.timeLimit(.minutes(10))) struct ResponseTests {
  /// The bytes that a server sends, and the result.
  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let bytes: [UInt8]
    var method = "GET"
    var head = HTTP.ResponseHead(version: .http11, status: 200, reason: "OK", fields: ["Content-Length": "2"])
    var body = "hi"
    var trailers: HTTP.Fields = [:]
    var interim: [HTTP.ResponseHead] = []

    init(_ name: String, _ text: String, method: String = "GET", change: (inout Case) -> Void = { _ in }) {
      self.init(name, Array(text.utf8), method: method, change: change)
    }

    init(_ name: String, _ bytes: [UInt8], method: String = "GET", change: (inout Case) -> Void = { _ in }) {
      (self.name, self.bytes, self.method) = (name, bytes, method)
      change(&self)
    }

    var testDescription: String { name }

    static let all = [
      Case("plain", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"),
      Case("lines that end in LF", "HTTP/1.1 200 OK\nContent-Length: 2\n\nhi"),
      Case("no space after a colon", "HTTP/1.1 200 OK\r\nContent-Length:2\r\n\r\nhi"),
      Case("white space around a value", "HTTP/1.1 200 OK\r\nContent-Length: \t2 \t\r\n\r\nhi"),
      Case("no reason", "HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nhi") { $0.head.reason = nil },
      Case("an empty reason", "HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\nhi") { $0.head.reason = nil },
      Case("a reason of its own", "HTTP/1.1 200 All is well\r\nContent-Length: 2\r\n\r\nhi") {
        $0.head.reason = "All is well"
      },
      Case("an unknown status", "HTTP/1.1 599 What\r\nContent-Length: 2\r\n\r\nhi") {
        ($0.head.status, $0.head.reason) = (599, "What")
      },
      Case("HTTP/1.0 without a length", "HTTP/1.0 200 OK\r\nX: y\r\n\r\nhi") {
        $0.head = HTTP.ResponseHead(version: .http10, status: 200, reason: "OK", fields: ["X": "y"])
      },
      Case(
        "order, case and repetition", "HTTP/1.1 200 OK\r\nB: 1\r\na: 2\r\nb:\r\nB: 3, 4\r\nContent-Length: 2\r\n\r\nhi"
      ) { $0.head.fields = ["B": "1", "a": "2", "b": "", "B": "3, 4", "Content-Length": "2"] },
      Case(
        "a Latin-1 byte",
        Array("HTTP/1.1 200 OK\r\nX: caf".utf8) + [0xE9] + Array("\r\nContent-Length: 2\r\n\r\nhi".utf8)
      ) { $0.head.fields = ["X": "caf\u{F7E9}", "Content-Length": "2"] },
      Case("a carriage return within a line", "HTTP/1.1 200 OK\r\nX: a\rb\r\nContent-Length: 2\r\n\r\nhi") {
        $0.head.fields = ["X": "a b", "Content-Length": "2"]
      },
      Case("white space before a colon", "HTTP/1.1 200 OK\r\nX : a\r\nContent-Length : 2\r\n\r\nhi") {
        $0.head.fields = ["X": "a", "Content-Length": "2"]
      },
      Case("UTF-8", "HTTP/1.1 200 OK\r\nX: café\r\nContent-Length: 2\r\n\r\nhi") {
        $0.head.fields = ["X": "café", "Content-Length": "2"]
      },
      Case("a folded line", "HTTP/1.1 200 OK\r\nX: a\r\n  b\r\nContent-Length: 2\r\n\r\nhi") {
        $0.head.fields = ["X": "a b", "Content-Length": "2"]
      },
      Case("an unknown coding", "HTTP/1.1 200 OK\r\nContent-Encoding: zip\r\nContent-Length: 2\r\n\r\nhi") {
        $0.head.fields = ["Content-Encoding": "zip", "Content-Length": "2"]
      },
      Case(
        "a coding that is not what it says", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\nhi"
      ) { $0.head.fields = ["Content-Encoding": "gzip", "Content-Length": "2"] },
      Case("a redirection without a place", "HTTP/1.1 302 Found\r\nContent-Length: 2\r\n\r\nhi") {
        ($0.head.status, $0.head.reason) = (302, "Found")
      },
      Case("a redirection", "HTTP/1.1 301 Moved\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n") {
        $0.head = HTTP.ResponseHead(
          version: .http11, status: 301, reason: "Moved", fields: ["Location": "/b", "Content-Length": "0"])
        $0.body = ""
      },
      Case("unauthorised", "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=a\r\nContent-Length: 2\r\n\r\nhi") {
        $0.head = HTTP.ResponseHead(
          version: .http11, status: 401, reason: "No",
          fields: ["WWW-Authenticate": "Basic realm=a", "Content-Length": "2"])
      },
      Case("chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nh\r\n1;a=b\r\ni\r\n0\r\n\r\n") {
        $0.head.fields = ["Transfer-Encoding": "chunked"]
      },
      Case(
        "trailers",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nX-Sum: 1\r\nServer-Timing:a\r\n\r\n"
      ) {
        $0.head.fields = ["Transfer-Encoding": "chunked"]
        $0.trailers = ["X-Sum": "1", "Server-Timing": "a"]
      },
      Case(
        "a length beside chunks",
        "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"
      ) { $0.head.fields = ["Transfer-Encoding": "chunked"] },
      Case("the same length twice", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nhi") {
        $0.head.fields = ["Content-Length": "2", "Content-Length": "2"]
      },
      Case(
        "interim responses",
        "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
          + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
      ) {
        $0.interim = [
          HTTP.ResponseHead(version: .http11, status: 102, reason: "Processing"),
          HTTP.ResponseHead(version: .http11, status: 103, reason: "Early Hints", fields: ["Link": "</a>"]),
        ]
      },
      Case("no content", "HTTP/1.1 204 No Content\r\nX: y\r\n\r\n") {
        $0.head = HTTP.ResponseHead(version: .http11, status: 204, reason: "No Content", fields: ["X": "y"])
        $0.body = ""
      },
      Case("not modified, with the length of what was not sent", "HTTP/1.1 304 Same\r\nContent-Length: 99\r\n\r\n") {
        $0.head = HTTP.ResponseHead(version: .http11, status: 304, reason: "Same", fields: ["Content-Length": "99"])
        $0.body = ""
      },
      Case("the head alone", "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n", method: "HEAD") {
        ($0.head.fields, $0.body) = (["Content-Length": "99"], "")
      }, Case("more than was announced", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi ho"),
      Case("no header fields", "HTTP/1.1 200 OK\r\n\r\nhi") { $0.head.fields = [:] },
      Case(
        "a long line", "HTTP/1.1 200 OK\r\nX: \(String(repeating: "a", count: 90_000))\r\nContent-Length: 2\r\n\r\nhi"
      ) { $0.head.fields = ["X": String(repeating: "a", count: 90_000), "Content-Length": "2"] },
    ]
  }

  @Test(arguments: Case.all) func validResponsesAreGivenAsTheyCame(_ example: Case) async throws {
    let server = try TestServer(script: [.raw(bytes: example.bytes)])
    let response = try await HTTPTransferService.plain().transfer(HTTP.Request(method: example.method, url: server.url))
    var body = response.body
    while let bytes = try await response.rest?.next() { body += bytes }
    #expect(response.head == example.head)
    #expect(response.interim == example.interim)
    #expect(String(decoding: body, as: UTF8.self) == example.body)
    #expect(response.rest?.trailers ?? response.trailers == example.trailers)
    #expect(try await response.rest?.next() == nil)
    #expect(server.count == 1)
  }

  @Test(arguments: ["127.0.0.1", "127.1", "0x7f.1", "localhost", "LOCALHOST"])
  func hostsAreParsedAsByLibcurl(_ host: String) async throws {
    let server = try TestServer { TestResponse($0.fields["Host"] ?? "") }
    let url = "http://\(host):\(server.port)/"
    #expect(try await HTTPTransferService.plain().get(url).head.status == 200)
  }

  @Test func addressesOfIPv6() async throws {
    let server = try TestServer(hasIPv6: true) { _ in TestResponse("hi") }
    #expect(server.url.hasPrefix("http://[::1]:"))
    let response = try await HTTPTransferService.plain().get(server.url)
    #expect(response.body == Array("hi".utf8))
  }

  @Test func limitsOfContent() async throws {
    let server = try TestServer { _ in TestResponse("hello").chunked() }
    #expect(try await HTTPTransferService.plain(content: .whole(limit: 5)).get(server.url).body.count == 5)
    let error = await failure { () async throws(CacheError) in
      try await HTTPTransferService.plain(content: .whole(limit: 4)).get(server.url)
    }
    Failure(code: .invalidAnswer, words: "127.0.0.1:\(server.port) is larger than 4 bytes").expect(error)
  }

  @Test func contentAnnouncedAsTooLargeIsNotFetched() async throws {
    let server = try TestServer { _ in TestResponse(body: .repeated([1], count: 1 << 40)) }
    let error = await failure { () async throws(CacheError) in
      try await HTTPTransferService.plain(content: .whole(limit: 1 << 30)).get(server.url)
    }
    Failure(code: .invalidAnswer, words: "is larger than").expect(error)
    await server.abandoned(1)
  }
}
