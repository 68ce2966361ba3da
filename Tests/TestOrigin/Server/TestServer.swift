import CacheBase

/// An origin server of HTTP/1.1 on a free port of the loopback interface, which does what a test tells it, and counts
/// what it was asked. Each connection has a thread of its own. It ends with the last reference to it.
public final class TestServer: Sendable {
  private let listener: Descriptor
  private let service: Service

  private let host: String

  /// Starts a server that answers each request by `handler`, which is called on the threads of the connections. It has
  /// the address 127.0.0.1, or `[::1]`.
  ///
  /// - Throws: `SystemFailure`.
  public init(
    hasIPv6: Bool = false, _ handler: @escaping @Sendable (TestRequest) -> TestResponse
  ) throws(SystemFailure) {
    listener = try .boundSocket(ofIPv6: hasIPv6)
    host = hasIPv6 ? "[::1]" : "127.0.0.1"
    service = Service(Answers(handler))
    try SystemFailure.check("listen", listen(listener.number, 1024))
    service.accept(from: listener)
  }

  /// Starts a server that gives the answers of `script` in order. The last one is repeated without an end.
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

  /// Gives these answers, in order, to the next requests.
  public func enqueue(_ responses: [TestResponse]) { service.answers.enqueue(responses) }

  /// Gives this answer to every request from now on, or with `nil` those of the handler again.
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

  /// How many bytes were sent so far; what the peer has not taken is in the buffers of both systems.
  public var sentByteCount: Int { service.traffic.sent }

  /// How many answers the peer did not wait for: it closed the connection first.
  public var abandonedCount: Int { service.traffic.abandoned }

  /// The highest number of requests that were being answered at one time.
  public var highestConcurrency: Int { service.traffic.highest }

  /// Forgets the requests so far.
  public func forgetRequests() { service.traffic.clear() }

  /// Waits until `count` requests have come. They need not be answered.
  public func received(_ count: Int) async { await service.traffic.wait { $0.requests >= count } }

  /// Waits until the peers have closed connections before the ends of `count` answers.
  public func abandoned(_ count: Int) async { await service.traffic.wait { $0.abandoned >= count } }
}
