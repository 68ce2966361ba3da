public import CacheCore
internal import FetchVocabulary
internal import Platform
public import HTTPCaching
internal import Synchronization

/// Sends requests with `Transport`, and returns responses as they arrived: header lines in order, content codings in
/// place.
///
/// Cost: nothing until the first transfer, which loads libcurl.
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

  private let timeout: Duration
  private let totalTimeout: Duration?
  private let content: Content
  private let settings: LimitSettings
  private let transport: Transport

  /// Creates a service.
  ///
  /// - Parameters:
  ///   - timeout: how long the server may take: for everything, or for each piece, depending on `content`.
  ///   - totalTimeout: how long a whole transfer may take; `nil` for no further limit.
  ///   - settings: the settings of these limits.
  ///   - options: the proxy and the trusted certificates. Its time limits are replaced by those above.
  ///   - environment: looks up an environment variable, for proxies and trusted certificates.
  public init(
    timeout: Duration = .seconds(30), totalTimeout: Duration? = nil, content: Content = .whole(limit: 16 << 20),
    settings: LimitSettings = LimitSettings(), options: TransportOptions = TransportOptions(),
    environment: @escaping @Sendable (String) -> String? = HTTPTransferService.processEnvironment
  ) {
    self.timeout = timeout
    self.totalTimeout = totalTimeout
    self.content = content
    self.settings = settings
    var options = options
    switch content {
    case .whole: options.totalTimeout = totalTimeout.map { min($0, timeout) } ?? timeout
    case .streamed:
      options.connectTimeout = timeout
      options.idleTimeout = timeout
      options.totalTimeout = totalTimeout
    }
    transport = Transport(options, environment: environment)
  }

  /// Sends `request`, and returns the response: once it is complete, or with a `rest` that arrives while it is read.
  /// Cancelling the task ends the transfer, and so does releasing the rest.
  ///
  /// - Throws: `CacheError`: `originUnreachable` if the response is incomplete; `invalidAnswer` if it is too long or not
  ///   HTTP; `invalidRequest` if the request cannot be sent; `cancelled`. The rest throws the same. Any failure after
  ///   the head of a response to an unsafe request has an `IncompleteResponse` as its cause.
  public func transfer(_ request: HTTPRequest) async throws(CacheError) -> HTTPResponse {
    let (start, source) = (ContinuousClock.now, request.stream.map { ContentSource($0) })
    let sent = source.map { source in RequestContent.stream(length: source.length) { try await source.next() } }
    let exchange: Exchange
    do throws(TransportError) {
      exchange = try await transport.send(request, content: sent)
    } catch {
      // The error of the content's source says more than a failed request.
      if error.code == .content, let failure = source?.failure { throw failure }
      throw self.error(error, since: start)
    }
    do throws(CacheError) {
      try checkPlace(exchange.head, of: request, since: start)
    } catch {
      throw error.after(exchange.head, of: request)
    }
    let response = streamed(exchange, since: start)
    switch content {
    case .streamed where exchange.announcedLength ?? .max > Self.pieceSize: return response
    case .streamed: return try await response.gathered(limit: Self.pieceSize, for: request)
    case .whole(let limit):
      let response = try await response.gathered(limit: limit, for: request)
      guard response.rest == nil else {
        let failure = TransportError(
          .tooLarge, server: request.authority ?? "", detail: "\(limit)", hasHead: true)
        throw error(failure, since: start).after(response.head, of: request)
      }
      return response
    }
  }

  /// Checks that `head` leads to one place only: otherwise it would depend on the reader where it leads.
  private func checkPlace(
    _ head: HTTPResponseHead, of request: HTTPRequest, since start: ContinuousClock.Instant
  ) throws(CacheError) {
    guard head.status == 201 || HTTPResponseHead.redirectStatuses.contains(head.status),
      head.fields.values(of: "location").count > 1
    else { return }
    let failure = TransportError(
      .invalidMessage, server: request.authority ?? "", detail: "it has more than one Location", hasHead: true)
    throw error(failure, since: start)
  }

  /// Looks up a variable in this process's environment.
  public static let processEnvironment: @Sendable (String) -> String? = { getenv($0).map { String(cString: $0) } }

  private func error(_ error: TransportError, since start: ContinuousClock.Instant) -> CacheError {
    let ended = totalTimeout.flatMap { ContinuousClock.now - start >= $0 ? $0 : nil }
    return CacheError(
      error, timeout: ended ?? timeout, isForSilence: ended == nil && content == .streamed, settings: settings)
  }

  /// The response of `exchange`, which ends with its rest.
  private func streamed(_ exchange: Exchange, since start: ContinuousClock.Instant) -> HTTPResponse {
    let rest = StreamedContent(length: exchange.announcedLength, trailers: { exchange.trailers }) {
      () async throws(CacheError) in
      do throws(TransportError) {
        return try await exchange.next()
      } catch {
        throw self.error(error, since: start)
      }
    }
    return HTTPResponse(exchange, body: [], rest: rest)
  }
}

/// The content of a request, and the error with which reading it failed.
private final class ContentSource: Sendable {
  private let stream: StreamedContent
  private let thrown = Mutex<CacheError?>(nil)

  init(_ stream: StreamedContent) { self.stream = stream }

  var length: Int? { stream.length }
  var failure: CacheError? { thrown.withLock { $0 } }

  func next() async throws(CacheError) -> [UInt8]? {
    do throws(CacheError) {
      return try await stream.next()
    } catch {
      thrown.withLock { $0 = error }
      throw error
    }
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

  var adviceOnSize: String {
    size.map { "raise \($0) if the content is right" } ?? "raise the limit if the content is right"
  }
}
