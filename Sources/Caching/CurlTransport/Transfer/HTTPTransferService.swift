public import CacheCore
internal import FetchVocabulary
internal import CacheBase
public import HTTPCaching
internal import Synchronization

// The types that a program with requests names.
@_exported public import protocol CacheCore.DataTransferService
@_exported public import enum HTTPCaching.HTTP

/// Sends requests over HTTP and returns responses as they arrived, with libcurl.
///
/// Any status is a response, not an error: the service follows no redirects, undoes no content codings, and keeps nothing
/// but connections. Requests are sent with the caller's fields in their order; if they are missing, only `Host` is added,
/// and `Content-Length` or `Transfer-Encoding` for content.
///
/// The thread that carries the transfers starts with the first request, which loads libcurl: until then the service costs
/// nothing. It uses no processor time while it waits, and ends with the service and its responses. Any number of requests
/// can be under way at once: see `LimitedTransferService`.
public final class HTTPTransferService: DataTransferService {
  /// How the content of a response is returned.
  public enum Content: Sendable, Hashable {
    /// In memory, once it is complete. More than `limit` bytes are an error, and the timeout applies to the whole
    /// response.
    case whole(limit: Int)
    /// While it arrives: the response is returned with its head, and the content is its `rest`. Only content of an
    /// announced length up to 64 KiB is in its `body`: it arrives at once. The timeout applies to each wait for the
    /// server.
    case streamed
  }

  /// Content of an announced length up to this many bytes is not streamed.
  private static let pieceSize = 1 << 16

  private let content: Content
  private let limits: TransferLimits
  private let options: TransportOptions
  private let environment: @Sendable (String) -> String?
  private let thread = Mutex<TransferThread?>(nil)

  /// Creates a service.
  ///
  /// - Parameters:
  ///   - timeout: how long the server can take: for everything, or for each piece, depending on `content`.
  ///   - totalTimeout: how long a whole transfer can take, with the time that its reader spends between reads; `nil`
  ///     for no further limit.
  ///   - settings: the settings of these limits.
  ///   - options: the proxy and the trusted certificates.
  ///   - environment: looks up an environment variable, for proxies and trusted certificates, with the first request.
  public init(
    timeout: Duration = .seconds(30), totalTimeout: Duration? = nil, content: Content = .whole(limit: 16 << 20),
    settings: LimitSettings = LimitSettings(), options: TransportOptions = TransportOptions(),
    environment: @escaping @Sendable (String) -> String? = HTTPTransferService.processEnvironment
  ) {
    self.content = content
    self.options = options
    self.environment = environment
    limits = TransferLimits(
      timeout: timeout, totalTimeout: totalTimeout, isForEachWait: content == .streamed,
      connectTimeout: options.connectTimeout, settings: settings)
  }

  /// Looks up a variable in this process's environment.
  public static let processEnvironment: @Sendable (String) -> String? = { getenv($0).map { String(cString: $0) } }

  /// Sends `request`, and returns the response: once it is complete, or with a `rest` that arrives while it is read.
  /// Cancelling the task ends the transfer and closes its connection, and so does releasing the rest.
  ///
  /// - Throws: `CacheError`: `originUnreachable` if the response is incomplete; `invalidAnswer` if it is too long or not
  ///   HTTP; `invalidRequest` if the request cannot be sent; `cancelled`. The rest throws the same. Any failure after
  ///   the head of a response to an unsafe request has an `IncompleteResponse` as its cause.
  public func transfer(_ request: HTTP.Request) async throws(CacheError) -> HTTP.Response {
    let response = try await begin(request)
    switch content {
    case .streamed where response.rest?.length ?? .max > Self.pieceSize: return response
    case .streamed: return try await response.gathered(limit: Self.pieceSize, for: request)
    case .whole(let limit):
      let response = try await response.gathered(limit: limit, for: request)
      guard response.rest == nil else {
        throw .contentTooLarge(response.head, of: request, limit: limit, limits.settings)
      }
      return response
    }
  }

  /// The response to `request` when its head has arrived. Its rest holds the transfer and its thread.
  private func begin(_ request: HTTP.Request) async throws(CacheError) -> HTTP.Response {
    let outgoing = try OutgoingRequest(request)
    if Task.isCancelled { throw .cancelled }
    let thread = try currentThread()
    let transfer = Transfer(outgoing, loop: thread.loop)
    transfer.begin()
    let head = try await transfer.head()
    let rest = StreamedContent(
      length: head.contentLength(of: request), trailers: { transfer.trailers }, whenEnded: { transfer.cancel() }
    ) { [thread] () async throws(CacheError) in
      _ = thread
      return try await transfer.next()
    }
    var response = HTTP.Response(head, rest: rest)
    response.interim = transfer.interim
    return response
  }

  private func currentThread() throws(CacheError) -> TransferThread {
    try thread.withLock { (thread) throws(CacheError) in
      // If libcurl itself fails, the thread ends: start another one.
      if let thread, !thread.loop.isClosed { return thread }
      let started = try TransferThread(NetworkSettings(limits, options, environment: environment))
      thread = started
      return started
    }
  }
}

extension HTTP.ResponseHead {
  /// The length of the content that the head announces; `nil` if it announces none, 0 if there can be no content.
  fileprivate func contentLength(of request: HTTP.Request) -> Int? {
    if request.method == "HEAD" || status == 304 || status == 204 { return 0 }
    if fields.contains("transfer-encoding") { return nil }
    return fields.values(of: "content-length").first.flatMap { Int($0) }
  }
}

/// The settings from which the limits of transfers come, by their names in the program's configuration; `nil` for a limit
/// that is not a setting. Errors advise to raise them.
public struct LimitSettings: Sendable, Hashable {
  /// The setting of the time limit.
  public var timeout: String?
  /// The setting of the size limit.
  public var size: String?

  /// The settings with the given names.
  public init(timeout: String? = nil, size: String? = nil) {
    (self.timeout, self.size) = (timeout, size)
  }
}
