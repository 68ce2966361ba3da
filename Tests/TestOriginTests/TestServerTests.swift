import CacheBase
import TestOrigin
import Testing

/// The server answers on demand, and records its requests.
@Suite struct TestServerTests {
  @Test func requestsAreRecordedAsTheyCame() async throws {
    let server = try TestServer(script: [TestResponse("hello")])
    let answer = try RawClient.answer(
      of: server, to: "POST /a%20b?x=1%262&y=c+d HTTP/1.1", "Content-Length: 0", "X-Two: 1", "x-two:  2 ")
    #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
    #expect(answer.contains("\r\nContent-Length: 5\r\n") && answer.contains("\r\nDate: "))
    #expect(answer.content == "hello")
    let request = try #require(server.requests.first)
    #expect(request.method == "POST" && request.target == "/a%20b?x=1%262&y=c+d" && request.path == "/a%20b")
    #expect(request.query == ["x": "1&2", "y": "c d"])
    #expect(request.fields["X-TWO"] == "1, 2" && request.fields.values("x-two") == ["1", "2"])
    #expect(server.count == 1 && server.count(of: "/a%20b") == 1 && server.count(of: "/a%20b", method: "GET") == 0)
  }

  @Test(arguments: [
    ("Content-Length: 5\n\nhello", "hello"),
    ("Transfer-Encoding: chunked\n\n3\nhel\n2;x=y\nlo\n0\n\n", "hello"),
  ])
  func contentIsReadHoweverItIsFramed(message: String, content: String) throws {
    let server = try TestServer { TestResponse(String(decoding: $0.body, as: UTF8.self)) }
    let client = try RawClient(server)
    client.send("PUT / HTTP/1.1\nConnection: close\n" + message)
    #expect(client.rest().content == content)
  }

  @Test func aConnectionCarriesSeveralRequests() throws {
    let server = try TestServer { TestResponse($0.path) }
    let client = try RawClient(server)
    for path in ["/a", "/b", "/c"] {
      client.send("GET \(path) HTTP/1.1\n\n")
      #expect(client.text(until: path).hasSuffix("\r\n\r\n\(path)"))
    }
    #expect(server.count == 3 && server.connectionCount == 1)
  }

  @Test func theScriptIsFollowedAndItsLastAnswerRepeated() throws {
    let server = try TestServer(script: [TestResponse("1"), TestResponse("2")])
    #expect(try (1...3).map { _ in try RawClient.answer(of: server).content } == ["1", "2", "2"])
    server.override(.html(503))
    server.enqueue([TestResponse("3")])
    #expect(try RawClient.answer(of: server).content == "3")
    #expect(try RawClient.answer(of: server).hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"))
    server.override(nil)
    #expect(try RawClient.answer(of: server).content == "2")
  }

  @Test func answersToHeadHaveTheLengthOnly() throws {
    let server = try TestServer(script: [TestResponse("hello")])
    let answer = try RawClient.answer(of: server, to: "HEAD / HTTP/1.1")
    #expect(answer.contains("\r\nContent-Length: 5\r\n") && answer.content.isEmpty)
  }

  @Test func heldAnswersWaitForTheirGateAtTheSameTime() async throws {
    let gate = try TestGate()
    let server = try TestServer(script: [TestResponse("late").held(by: gate)])
    let answers = (1...5).map { _ in RawClient.answerInBackground(of: server) }
    await server.received(5)
    #expect(server.highestConcurrency == 5)
    gate.open()
    for answer in answers { for await text in answer { #expect(text.content == "late") } }
  }

  @Test func anAnswerThatWasSentIsNotBeingGivenAnyMore() throws {
    let server = try TestServer(script: [TestResponse("hello").untilClose()])
    let first = try RawClient(server)
    first.send("GET /1 HTTP/1.1\n\n")
    #expect(first.rest().content == "hello")
    #expect(try RawClient.answer(of: server).content == "hello")
    #expect(server.highestConcurrency == 1)
    // Its end of the connection is open up to here.
    first.send("")
  }

  @Test(arguments: [TestResponse("hello"), TestResponse("hello").chunked(2), TestResponse(status: 204)])
  func requestsOneAfterTheOtherAreNeverAnsweredTogether(response: TestResponse) throws {
    let server = try TestServer(script: [response])
    let first = try RawClient(server)
    let second = try RawClient(server)
    let end = response.status == 204 ? "\r\n\r\n" : response.framing == .length ? "hello" : "\r\n0\r\n\r\n"
    for _ in 1...200 {
      first.send("GET /1 HTTP/1.1\n\n")
      #expect(first.text(until: end).hasSuffix(end))
      second.send("GET /2 HTTP/1.1\n\n")
      #expect(second.text(until: end).hasSuffix(end))
    }
    #expect(server.count == 400 && server.highestConcurrency == 1)
  }

  @Test func programsThatAreStartedDoNotInheritConnections() throws {
    let server = try TestServer(script: [TestResponse("hello")])
    let client = try RawClient(server)
    client.send("GET / HTTP/1.1\n\n")
    #expect(client.text(until: "hello").hasSuffix("hello"))
    let flags = (0..<4096).filter { Self.localPort(of: $0) == server.port }.map { fcntl($0, F_GETFD) }
    #expect(flags == [FD_CLOEXEC, FD_CLOEXEC], "the listener, and the connection")
  }

  /// The port of this end of a socket; `nil` for what is none.
  private static func localPort(of descriptor: Int32) -> Int? {
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
    }
    return result == 0 ? Int(UInt16(bigEndian: address.sin_port)) : nil
  }

  @Test func contentIsHeldAfterTheHeader() throws {
    let gate = try TestGate()
    let server = try TestServer(script: [TestResponse("late").contentHeld(by: gate)])
    let client = try RawClient(server)
    client.send("GET / HTTP/1.1\n\n")
    #expect(client.text(until: "\r\n\r\n").contains("Content-Length: 4"))
    gate.open()
    #expect(client.text(until: "late") == "late")
  }

  @Test func peersThatGiveUpAreCounted() async throws {
    let gate = try TestGate()
    let server = try TestServer(script: [TestResponse("late").held(by: gate)])
    do {
      let client = try RawClient(server)
      client.send("GET / HTTP/1.1\n\n")
      await server.received(1)
    }
    await server.abandoned(1)
    #expect(server.abandonedCount == 1)
  }

  @Test func aServerThatIsGoneRefusesConnections() throws {
    var server: TestServer? = try TestServer(script: [TestResponse("hello")])
    let port = try #require(server?.port)
    let client = try RawClient(port: port)
    server = nil
    #expect(client.rest().isEmpty)
    #expect(throws: RawClient.NoConnection(number: ECONNREFUSED)) { _ = try RawClient(port: port) }
  }

  @Test func noServerListensAtAClosedPort() throws {
    let port = try ClosedPort()
    #expect(throws: RawClient.NoConnection(number: ECONNREFUSED)) { _ = try RawClient(port: port.port) }
  }
}
