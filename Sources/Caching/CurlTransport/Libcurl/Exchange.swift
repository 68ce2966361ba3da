public import HTTPCaching

/// A request that has been sent, and the response that is arriving.
///
/// It ends when its content ends, on `cancel()`, when a task waiting for it is cancelled, or when its last reference is
/// released. The connection is then closed, unless the content has been read to its end or there is none.
public final class Exchange: Sendable {
  /// The head of the final response.
  public let head: HTTPResponseHead
  /// The heads of the interim responses (1xx) that came first, in order.
  public let interim: [HTTPResponseHead]
  /// Keeps the transfer's thread alive.
  private let thread: TransferThread
  let transfer: Transfer

  init(_ transfer: Transfer, head: HTTPResponseHead, thread: TransferThread) {
    self.head = head
    self.transfer = transfer
    self.thread = thread
    interim = transfer.interim
  }

  deinit { transfer.cancel() }

  /// Waits for content, and returns the next 1 to 65,536 bytes; `nil` at the end. Transfer codings have been removed,
  /// content codings have not.
  ///
  /// Content is read from the connection on demand: `TransportOptions.bufferSize` limits how much waits.
  ///
  /// - Throws: `TransportError`: what ended the response early, after all the content that arrived before it;
  ///   `cancelled`.
  public func next() async throws(TransportError) -> [UInt8]? { try await transfer.next() }

  /// The fields after the content; empty until its end has been read.
  public var trailers: HTTPFields { transfer.trailers }

  /// Ends the exchange and closes its connection, unless it has already ended.
  public func cancel() { transfer.cancel() }
}

extension HTTPResponse {
  /// Creates the response of `exchange` with the content read from it: `body`, followed by `rest` if there is more.
  public init(_ exchange: Exchange, body: [UInt8], rest: StreamedContent? = nil) {
    self.init(exchange.head, body: body, rest: rest)
    interim = exchange.interim
    trailers = exchange.trailers
  }
}
