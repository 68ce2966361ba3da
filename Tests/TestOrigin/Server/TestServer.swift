import CTestOrigin
import CacheBase
import Foundation
import Synchronization

/// An origin server of HTTP/1.1 on a free port of the loopback interface. A test decides its responses, and it counts
/// its requests. Each connection has a separate thread. The server ends with the last reference to it.
public final class TestServer: Sendable {
  private let listener: Descriptor
  private let service: Service

  private let host: String

  /// Starts a server that responds to each request with the result of `handler`, which is called on the threads of the
  /// connections. It has the address 127.0.0.1, or `[::1]`.
  ///
  /// - Throws: `SystemFailure`.
  public init(hasIPv6: Bool = false, _ handler: @escaping @Sendable (TestRequest) -> TestResponse) throws(SystemFailure)
  {
    listener = try .boundSocket(ofIPv6: hasIPv6)
    host = hasIPv6 ? "[::1]" : "127.0.0.1"
    service = Service(Answers(handler))
    try SystemFailure.check("listen", listen(listener.number, 1024))
    service.accept(from: listener)
  }

  /// Starts a server that gives the responses of `script` in order. The last one is repeated.
  ///
  /// - Throws: `SystemFailure`.
  public convenience init(script: [TestResponse]) throws(SystemFailure) {
    let last = script.last ?? .hangUp
    try self.init { _ in last }
    enqueue(script.dropLast())
  }

  deinit {
    listener.shutDown()
    service.stop()
  }

  /// The port.
  public var port: Int { listener.port }
  /// The URL of the server, without a slash at its end.
  public var url: String { "http://\(host):\(port)" }

  /// Gives these responses, in order, to the next requests.
  public func enqueue(_ responses: [TestResponse]) { service.answers.enqueue(responses) }

  /// Gives this response to every request from now on; with `nil`, the responses of the handler again.
  public func override(_ response: TestResponse?) { service.answers.override(response) }

  /// The requests so far, in order of arrival.
  public var requests: [TestRequest] { service.traffic.requests }

  /// How many requests came so far.
  public var count: Int { requests.count }

  /// How many requests came so far for `path`, whatever their query.
  public func count(of path: String, method: String? = nil) -> Int {
    requests.count { $0.path == path && (method == nil || $0.method == method) }
  }

  /// How many connections were made so far.
  public var connectionCount: Int { service.traffic.connections }

  /// How many bytes were sent so far; bytes that the peer has not read are in the buffers of both systems.
  public var sentByteCount: Int { service.traffic.sent }

  /// How many responses the peer did not wait for: it closed the connection first.
  public var abandonedCount: Int { service.traffic.abandoned }

  /// The highest number of requests that were in progress at one time.
  public var highestConcurrency: Int { service.traffic.highest }

  /// Forgets the requests so far.
  public func forgetRequests() { service.traffic.clear() }

  /// Waits until `count` requests have come. They need not have a response.
  public func received(_ count: Int) async { await service.traffic.wait { $0.requests >= count } }

  /// Waits until the peers have closed connections before the ends of `count` responses.
  public func abandoned(_ count: Int) async { await service.traffic.wait { $0.abandoned >= count } }
}

/// Chooses the response: first the queued ones, then the one set for all requests, and otherwise the handler's.
final class Answers: Sendable {
  private let handler: @Sendable (TestRequest) -> TestResponse
  private let state = Mutex<(queue: [TestResponse], override: TestResponse?)>(([], nil))

  init(_ handler: @escaping @Sendable (TestRequest) -> TestResponse) { self.handler = handler }

  func answer(to request: TestRequest) -> TestResponse {
    let told = state.withLock { $0.queue.isEmpty ? $0.override : $0.queue.removeFirst() }
    return told ?? handler(request)
  }

  func enqueue(_ responses: [TestResponse]) { state.withLock { $0.queue += responses } }

  func override(_ response: TestResponse?) { state.withLock { $0.override = response } }
}

/// Serves connections, each on a separate thread, until it is stopped.
final class Service: Sendable {
  let traffic = Traffic()
  let answers: Answers
  /// The connections that are open; `nil` once the service has stopped.
  private let open = Mutex<[ObjectIdentifier: Connection]?>([:])

  init(_ answers: Answers) { self.answers = answers }

  /// Accepts connections to `listener` until it is shut down.
  func accept(from listener: Descriptor) {
    Thread.detachNewThread { [self] in
      let acceptor = Acceptor(listener: listener)
      while let descriptor = acceptor.next() { serve(Connection(descriptor, onSend: traffic.send)) }
    }
  }

  /// Ends every connection.
  func stop() {
    let connections = open.withLock { open in
      defer { open = nil }
      return open.map { Array($0.values) } ?? []
    }
    for connection in connections { connection.descriptor.shutDown() }
  }

  private func serve(_ connection: Connection) {
    let isOpen = open.withLock { open in
      open?[ObjectIdentifier(connection)] = connection
      return open != nil
    }
    guard isOpen else { return }
    traffic.connect()
    Thread.detachNewThread { [self] in
      converse(connection)
      open.withLock { _ = $0?.removeValue(forKey: ObjectIdentifier(connection)) }
    }
  }

  private func converse(_ connection: Connection) {
    var reader = RequestReader(connection)
    while let request = reader.next() {
      traffic.begin(request)
      let writer = ResponseWriter(outlet: Outlet(connection), request: request)
      switch writer.write(answers.answer(to: request), atEnd: traffic.end) {
      case .complete: continue
      case .last: return connection.finish()
      case .abandoned: return traffic.abandon()
      }
    }
  }
}

/// A connection as a server has it: bytes in, bytes out.
final class Connection: Sendable {
  let descriptor: Descriptor
  private let onSend: @Sendable (Int) -> Void

  /// The connection that `descriptor` is. `onSend` receives the number of bytes that the system took.
  init(_ descriptor: Descriptor, onSend: @escaping @Sendable (Int) -> Void = { _ in }) {
    self.descriptor = descriptor
    self.onSend = onSend
    var on: Int32 = 1
    setsockopt(descriptor.number, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
  }

  /// Whether the peer has not closed its side, as far as is known without waiting.
  var isOpen: Bool {
    var byte: UInt8 = 0
    let flags = Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)
    let count = recv(descriptor.number, &byte, 1, flags)
    return count > 0 || (count < 0 && [EAGAIN, EINTR].contains(errno))
  }

  /// The next bytes, at most `limit`; none at the end of the connection.
  func receive(_ limit: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
      var result = -1
      repeat { result = recv(descriptor.number, buffer.baseAddress, limit, 0) } while result < 0 && errno == EINTR
      count = max(0, result)
    }
  }

  /// Sends all of `bytes`.
  ///
  /// - Returns: whether the peer took them; `false` if it has closed the connection.
  func send(_ bytes: ArraySlice<UInt8>) -> Bool {
    bytes.withUnsafeBytes { buffer in
      var sent = 0
      while sent < buffer.count {
        let rest = UnsafeRawBufferPointer(rebasing: buffer[sent...])
        let count = Sockets.send(descriptor.number, rest)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return false }
        sent += count
        onSend(count)
      }
      return true
    }
  }

  func send(_ text: String) -> Bool { send(Array(text.utf8)[...]) }

  /// Says that no more data follows, and reads the peer's remaining data: a connection that is closed with bytes unread
  /// is reset, and the peer might lose the data that was sent to it.
  func finish() {
    shutdown(descriptor.number, Int32(SHUT_WR))
    var limit = timeval(tv_sec: 1, tv_usec: 0)
    setsockopt(descriptor.number, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    while !receive(65536).isEmpty {}
  }
}

/// The traffic of a server so far.
final class Traffic: Sendable {
  private struct State {
    var requests: [TestRequest] = []
    var connections = 0
    var abandoned = 0
    var sent = 0
    var current = 0
    var highest = 0
    var waiting: [UInt64: (isMet: @Sendable (Counts) -> Bool, continuation: CheckedContinuation<Void, Never>)] = [:]
    /// The number of the next task that waits.
    var number: UInt64 = 0

    var counts: Counts { Counts(requests: requests.count, abandoned: abandoned) }

    /// The tasks whose conditions are met now, which wait no longer.
    mutating func takeReady() -> [CheckedContinuation<Void, Never>] {
      let counts = counts
      let ready = waiting.filter { $0.value.isMet(counts) }
      for number in ready.keys { waiting[number] = nil }
      return ready.values.map(\.continuation)
    }
  }

  /// The counts that tasks wait for.
  struct Counts: Sendable {
    let requests: Int
    let abandoned: Int
  }

  private let state = Mutex(State())

  var requests: [TestRequest] { state.withLock(\.requests) }
  var connections: Int { state.withLock(\.connections) }
  var sent: Int { state.withLock(\.sent) }
  var abandoned: Int { state.withLock(\.abandoned) }
  var highest: Int { state.withLock(\.highest) }

  func connect() { state.withLock { $0.connections += 1 } }

  func send(_ count: Int) { state.withLock { $0.sent += count } }

  func begin(_ request: TestRequest) {
    resume { state in
      state.requests.append(request)
      state.current += 1
      state.highest = max(state.highest, state.current)
    }
  }

  /// Ends the response to a request, however it ends.
  func end() { state.withLock { $0.current -= 1 } }

  /// Counts a response that the peer did not wait for.
  func abandon() { resume { $0.abandoned += 1 } }

  /// Forgets the requests.
  func clear() { state.withLock { $0.requests = [] } }

  /// Waits until `isMet` holds, or the task is cancelled.
  func wait(_ isMet: @escaping @Sendable (Counts) -> Bool) async {
    let number = state.withLock { state in
      state.number += 1
      return state.number
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        resume { $0.waiting[number] = (isMet, continuation) }
        // The handler may have been called before there was anything to resume.
        if Task.isCancelled { giveUp(number) }
      }
    } onCancel: {
      giveUp(number)
    }
  }

  private func giveUp(_ number: UInt64) {
    state.withLock { $0.waiting.removeValue(forKey: number) }?.continuation.resume()
  }

  private func resume(_ change: (inout sending State) -> Void) {
    let ready = state.withLock { state in
      change(&state)
      return state.takeReady()
    }
    for continuation in ready { continuation.resume() }
  }
}

/// Takes the connections that come to a listener, whatever happens to single ones.
struct Acceptor: Sendable {
  let listener: Descriptor
  /// The call that takes a connection of the listener with a number: tests have it fail.
  var call: @Sendable (Int32) -> Int32 = ctestorigin_accept

  /// The next connection; `nil` once the listener is shut down, for which accept(2) has EINVAL.
  ///
  /// Every other failure is temporary: a failure of one connection, or a lack of descriptors or memory, which ends with
  /// other connections.
  func next() -> Descriptor? {
    while true {
      do throws(SystemFailure) { return try Descriptor("accept", call(listener.number)) } catch {
        switch error.number {
        case EINVAL: return nil
        case EINTR, ECONNABORTED: break
        // The connection stays in line: without a pause this would go round and round.
        default: usleep(1000)
        }
      }
    }
  }
}

/// Sends its input over a connection, but holds the latest bytes back: so the caller can do something before the last
/// ones.
final class Outlet {
  let connection: Connection
  private var held: ArraySlice<UInt8> = []

  init(_ connection: Connection) { self.connection = connection }

  /// Holds `bytes` back, and sends the bytes held back before.
  ///
  /// - Returns: whether the peer took these; `false` if it has closed the connection.
  func send(_ bytes: ArraySlice<UInt8>) -> Bool {
    guard !bytes.isEmpty else { return true }
    defer { held = bytes }
    return flush()
  }

  func send(_ text: String) -> Bool { send(Array(text.utf8)[...]) }

  /// Sends the bytes held back.
  ///
  /// - Returns: whether the peer took it; `false` if it has closed the connection.
  func flush() -> Bool {
    defer { held = [] }
    return connection.send(held)
  }
}
