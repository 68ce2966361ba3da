public import HTTPCaching
internal import Synchronization

/// Sends requests over HTTP and delivers responses as they arrive, with libcurl.
///
/// Any status is a response, not an error: the transport follows no redirects, undoes no content codings, and keeps
/// nothing but connections. Requests are sent with the caller's fields in their order; if they are missing, only `Host`
/// is added, and `Content-Length` or `Transfer-Encoding` for content.
///
/// The thread that carries the transfers starts with the first request, which loads libcurl. It uses no processor time
/// while it waits, and ends with the transport and its exchanges. Any number of requests may be under way at once:
/// limiting them is up to the caller.
public final class Transport: Sendable {
  private let options: TransportOptions
  private let environment: @Sendable (String) -> String?
  private let thread = Mutex<TransferThread?>(nil)

  /// Creates a transport. With the first request, `environment` is asked for the environment variables that
  /// `TransportOptions` names.
  public init(
    _ options: TransportOptions = TransportOptions(), environment: @escaping @Sendable (String) -> String?
  ) {
    self.options = options
    self.environment = environment
  }

  /// Sends `request`, and returns when the head of the final response has arrived. `content` replaces the body of the
  /// request, unless it is `nil`.
  ///
  /// Cancelling the task ends the transfer and closes its connection.
  ///
  /// - Throws: `TransportError`.
  public func send(_ request: HTTPRequest, content: RequestContent? = nil) async throws(TransportError) -> Exchange {
    let outgoing = try OutgoingRequest(request, content: content)
    if Task.isCancelled { throw outgoing.error(.cancelled) }
    let thread = try thread(for: outgoing)
    let transfer = Transfer(outgoing, loop: thread.loop, bufferSize: options.bufferSize)
    transfer.start()
    let head = try await transfer.head()
    return Exchange(transfer, head: head, thread: thread)
  }

  /// Sends `request`, and returns the complete response, with at most `limit` bytes of content.
  ///
  /// - Throws: `TransportError`: `tooLarge` for more than `limit` bytes, as soon as that is known.
  public func response(
    to request: HTTPRequest, content: RequestContent? = nil, limit: Int
  ) async throws(TransportError) -> HTTPResponse {
    try await send(request, content: content).response(limit: limit)
  }

  private func thread(for request: OutgoingRequest) throws(TransportError) -> TransferThread {
    try thread.withLock { (thread) throws(TransportError) in
      // If libcurl itself fails, the thread ends: start another one.
      if let thread, !thread.loop.isClosed { return thread }
      let settings = NetworkSettings(options, environment: environment)
      let started = try TransferThread(settings, for: request.server)
      thread = started
      return started
    }
  }
}

extension Exchange {
  /// Waits for the content, and returns the complete response, with at most `limit` bytes of content.
  ///
  /// - Throws: `TransportError`: `tooLarge` for more than `limit` bytes, as soon as that is known.
  public func response(limit: Int) async throws(TransportError) -> HTTPResponse {
    var body: [UInt8] = []
    let announced = announcedLength ?? 0
    body.reserveCapacity(min(announced, limit))
    var isTooLarge = announced > limit
    while !isTooLarge, let bytes = try await next() {
      isTooLarge = bytes.count > limit - body.count
      body += bytes
    }
    guard !isTooLarge else {
      cancel()
      throw transfer.request.error(.tooLarge, "\(limit)")
    }
    return HTTPResponse(self, body: body)
  }

  /// The content length that the head announces; `nil` if it announces none, 0 if there can be no content.
  public var announcedLength: Int? {
    if transfer.request.method == "HEAD" || head.status == 304 || head.status == 204 { return 0 }
    if head.fields.contains("transfer-encoding") { return nil }
    return head.fields.values(of: "content-length").first.flatMap { Int($0) }
  }
}

/// The content of a request.
public enum RequestContent: Sendable {
  /// These bytes.
  case bytes([UInt8])
  /// The bytes that `next` returns until it returns `nil`: `length` bytes in all, or without a length, sent in chunks.
  ///
  /// `next` is called when the connection can take more, in a task of its own, which is cancelled when the response has
  /// ended. Such content cannot be sent twice, so it goes over a new connection.
  case stream(length: Int?, next: @Sendable () async throws -> [UInt8]?)
}
