import CacheBase
import Foundation
import Synchronization
import Testing
@testable import TestOrigin

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
    ("Content-Length: 5\n\nhello", "hello"), ("Transfer-Encoding: chunked\n\n3\nhel\n2;x=y\nlo\n0\n\n", "hello"),
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

  @Test func theScriptIsFollowedAndItsLastResponseRepeated() throws {
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

  @Test func heldResponsesWaitForTheirGateAtTheSameTime() async throws {
    let gate = try TestGate()
    let server = try TestServer(script: [TestResponse("late").held(by: gate)])
    let answers = (1...5).map { _ in RawClient.answerInBackground(of: server) }
    await server.received(5)
    #expect(server.highestConcurrency == 5)
    gate.open()
    for answer in answers { for await text in answer { #expect(text.content == "late") } }
  }

  @Test func aSentResponseIsNotInProgressAnyMore() throws {
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
  func sequentialRequestsAreNeverAnsweredTogether(response: TestResponse) throws {
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

  /// The port of this end of a socket; `nil` if `descriptor` is not a socket.
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

/// A server outlives the failures of single connections.
@Suite(.timeLimit(.minutes(30))) struct AcceptorTests {
  /// Fails a number of times before it takes connections.
  private final class Failing: Sendable {
    private let left = Atomic(3)

    func accept(_ listener: Int32, number: Int32) -> Int32 {
      guard left.wrappingSubtract(1, ordering: .relaxed).newValue < 0 else {
        errno = number
        return -1
      }
      return CacheBase.accept(listener, nil, nil)
    }
  }

  @Test(arguments: [EINTR, ECONNABORTED, EMFILE, ENFILE, ENOBUFS, ENOMEM])
  func failuresPassAndOnlyTheEndOfTheListenerIsTheEnd(number: Int32) throws {
    let (listener, failing) = (try Descriptor.boundSocket(), Failing())
    try SystemFailure.check("listen", listen(listener.number, 1))
    let acceptor = Acceptor(listener: listener) { failing.accept($0, number: number) }
    let client = try RawClient(port: listener.port)
    let connection = try #require(acceptor.next())
    #expect(Connection(connection).send("hello"))
    #expect(client.text(until: "hello") == "hello")
    listener.shutDown()
    #expect(acceptor.next() == nil)
  }
}

/// A time limit can stop a task that waits for a server.
@Suite(.timeLimit(.minutes(30))) struct WaitingTests {
  @Test func waitsEndWhenTheTaskIsCancelledBefore() async throws {
    let server = try TestServer(script: [TestResponse("hello")])
    let tasks = [Task { await server.received(1) }, Task { await server.abandoned(1) }]
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
    #expect(server.count == 0 && server.abandonedCount == 0)
  }

  @Test func waitsEndWhenTheTaskIsCancelledMeanwhile() async {
    let (traffic, looks) = (Traffic(), AsyncStream.makeStream(of: Void.self))
    let task = Task {
      await traffic.wait { _ in
        looks.continuation.yield()
        return false
      }
    }
    for await _ in looks.stream { break }
    task.cancel()
    await task.value
    traffic.begin(TestRequest(method: "GET", target: "/", fields: [:], body: []))
    #expect(traffic.requests.count == 1)
  }

  @Test func oneCancelledTaskLeavesTheOthersWaiting() async {
    let (traffic, looks) = (Traffic(), AsyncStream.makeStream(of: Void.self))
    let cancelled = Task { await traffic.wait { _ in false } }
    let other = Task {
      await traffic.wait { counts in
        looks.continuation.yield()
        return counts.requests == 1
      }
      return traffic.requests.count
    }
    for await _ in looks.stream { break }
    cancelled.cancel()
    await cancelled.value
    traffic.begin(TestRequest(method: "GET", target: "/", fields: [:], body: []))
    #expect(await other.value == 1)
  }
}

/// A client that sends exactly the given bytes, and keeps the response unchanged.
struct RawClient: ~Copyable {
  private let descriptor: Int32
  /// The server lives as long as its client.
  private let server: TestServer?

  /// Connects to a server.
  ///
  /// - Throws: `NoConnection`.
  init(_ server: TestServer) throws { try self.init(port: server.port, server) }

  init(port: Int, _ server: TestServer? = nil) throws {
    self.server = server
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else { throw NoConnection(number: errno) }
  }

  deinit { close(descriptor) }

  /// A connection that could not be made.
  struct NoConnection: Error, Equatable { let number: Int32 }

  /// Sends a text, with the ends of lines as HTTP has them.
  func send(_ text: String) {
    let bytes = Array(text.replacing("\n", with: "\r\n").utf8)
    _ = CacheBase.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
  }

  /// Returns the text until the server closes the connection.
  func rest() -> String {
    var text: [UInt8] = []
    while case let bytes = receive(65536), !bytes.isEmpty { text += bytes }
    return String(decoding: text, as: UTF8.self)
  }

  /// Returns the text until it ends with `end`, or the server closes the connection.
  func text(until end: String) -> String {
    var text = ""
    while !text.hasSuffix(end), case let bytes = receive(1), !bytes.isEmpty {
      text += String(decoding: bytes, as: UTF8.self)
    }
    return text
  }

  /// The next bytes, at most `limit`.
  func receive(_ limit: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
      count = max(0, recv(descriptor, buffer.baseAddress, limit, 0))
    }
  }

  /// Sends a request and takes everything until the end of the connection, which the request asks for.
  static func answer(of server: TestServer, to request: String = "GET / HTTP/1.1", _ fields: String...) throws -> String
  {
    let client = try RawClient(server)
    client.send(([request] + fields + ["Connection: close", "", ""]).joined(separator: "\n"))
    return client.rest()
  }

  /// The same on a separate thread: a task that waits for a server keeps others from running.
  static func answerInBackground(of server: TestServer) -> AsyncStream<String> {
    let (answers, continuation) = AsyncStream.makeStream(of: String.self)
    Thread.detachNewThread {
      continuation.yield((try? answer(of: server)) ?? "no answer")
      continuation.finish()
    }
    return answers
  }
}

extension String {
  /// The content of a message of HTTP: the text after the header.
  var content: Substring { firstRange(of: "\r\n\r\n").map { self[$0.upperBound...] } ?? "" }
}
