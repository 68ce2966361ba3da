public import HTTPMessages

/// A request that was sent, and the response that is coming in.
///
/// It ends with the end of its content, with `cancel()`, when a task that waits for it is cancelled, and with the last
/// reference to it. Unless the content was read to its end, or has none, the connection is then closed.
public final class Exchange: Sendable {
  /// The head of the final response.
  public let head: HTTPResponseHead
  /// The heads of the interim responses (1xx) that came before it, in order.
  public let interim: [HTTPResponseHead]
  /// Keeps the thread that carries the transfer.
  private let thread: TransferThread
  let transfer: Transfer

  init(_ transfer: Transfer, head: HTTPResponseHead, thread: TransferThread) {
    self.head = head
    self.transfer = transfer
    self.thread = thread
    interim = transfer.interim
  }

  deinit { transfer.cancel() }

  /// Waits for content and returns the next 1 to 65,536 bytes; `nil` at the end. Coding of the transfer was undone, coding
  /// of the content was not.
  ///
  /// Content is read from the connection as it is asked for: what waits is bounded by `TransportOptions.bufferSize`.
  ///
  /// - Throws: `TransportError`: what ended the response before its end, after the content that came before it;
  ///   `cancelled`.
  public func next() async throws(TransportError) -> [UInt8]? { try await transfer.next() }

  /// The fields after the content; empty before its end.
  public var trailers: HTTPFields { transfer.trailers }

  /// Ends the exchange and closes its connection, unless it has ended.
  public func cancel() { transfer.cancel() }
}

extension HTTPResponse {
  /// The response of `exchange` with the content that was read from it: `body`, and `rest` where that is not all.
  public init(_ exchange: Exchange, body: [UInt8], rest: StreamedContent? = nil) {
    self.init(exchange.head, body: body, rest: rest)
    interim = exchange.interim
    trailers = exchange.trailers
  }
}
