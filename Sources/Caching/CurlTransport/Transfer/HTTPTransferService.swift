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
  /// What to do if a response has more content than the limit.
  public enum Excess: Sendable {
    /// Fail. The time-out applies to the whole response.
    case refused
    /// Stream the rest while it is read. The time-out applies to each wait for the server.
    case streamed
  }

  private let timeout: Duration
  private let totalTimeout: Duration?
  private let limit: Int
  private let excess: Excess
  private let passesOnUnstorable: Bool
  private let settings: LimitSettings
  private let transport: Transport

  /// Creates a service that holds `limit` bytes of a response's content in memory, and treats longer content as
  /// `excess` says.
  ///
  /// - Parameters:
  ///   - timeout: how long the server may take: for everything, or for each piece, depending on `excess`.
  ///   - totalTimeout: how long a whole transfer may take; `nil` for no further limit.
  ///   - passesOnUnstorable: whether content that no cache may store is streamed from its start, if there may be more of
  ///     it than `pieceSize`. Only with `streamed`.
  ///   - settings: the settings of these limits.
  ///   - options: the proxy and the trusted certificates. Its time limits are replaced by those above.
  ///   - environment: looks up an environment variable, for proxies and trusted certificates.
  public init(
    timeout: Duration = .seconds(30), totalTimeout: Duration? = nil, limit: Int = 16 << 20, excess: Excess = .refused,
    passesOnUnstorable: Bool = false, settings: LimitSettings = LimitSettings(),
    options: TransportOptions = TransportOptions(),
    environment: @escaping @Sendable (String) -> String? = HTTPTransferService.processEnvironment
  ) {
    (self.timeout, self.totalTimeout, self.limit, self.excess) = (timeout, totalTimeout, limit, excess)
    (self.passesOnUnstorable, self.settings) = (passesOnUnstorable, settings)
    var options = options
    switch excess {
    case .refused: options.totalTimeout = totalTimeout.map { min($0, timeout) } ?? timeout
    case .streamed:
      options.connectTimeout = timeout
      options.idleTimeout = timeout
      options.totalTimeout = totalTimeout
    }
    transport = Transport(options, environment: environment)
  }

  /// Sends `request`, and returns the response once it is complete, or once as much of it has arrived as memory may
  /// hold. Cancelling the task ends the transfer, and so does releasing the last reference to the rest.
  ///
  /// - Throws: `CacheError`: `originUnreachable` if the response is incomplete, and for a streamed one the part that
  ///   arrived as its cause (`IncompleteResponse`); `invalidAnswer` if it is too long or not HTTP; `invalidRequest` if
  ///   the request cannot be sent; `cancelled`. Any failure after the head of a response to an unsafe request has an
  ///   `IncompleteResponse` as its cause.
  public func transfer(_ request: HTTPRequest) async throws(CacheError) -> HTTPResponse {
    let (start, source) = (ContinuousClock.now, request.stream.map { ContentSource($0) })
    let content = source.map { source in RequestContent.stream(length: source.length) { try await source.next() } }
    let exchange: Exchange
    do throws(TransportError) {
      exchange = try await transport.send(request, content: content)
    } catch {
      // The error of the content's source says more than a failed request.
      if error.code == .content, let failure = source?.failure { throw failure }
      throw self.error(error, since: start)
    }
    do throws(CacheError) {
      try checkPlace(exchange.head, of: request, since: start)
      return try await excess == .refused
        ? whole(exchange, since: start) : begin(exchange, of: request, since: start)
    } catch {
      throw error.after(exchange.head, of: request)
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

  private func whole(
    _ exchange: Exchange, since start: ContinuousClock.Instant
  ) async throws(CacheError) -> HTTPResponse {
    do throws(TransportError) {
      return try await exchange.response(limit: limit)
    } catch {
      throw self.error(error, since: start)
    }
  }

  /// Content of a known length up to this is never streamed: it arrives at once, and its connection can be used again.
  private static let pieceSize = 1 << 16

  /// Whether to stream the content of `head` from its start: nobody waits for the end of what is not to be stored.
  private func isPassedOn(_ head: HTTPResponseHead, of request: HTTPRequest, length: Int?) -> Bool {
    passesOnUnstorable && length ?? .max > Self.pieceSize
      && HTTPCacheRules(freshness: .standard).refusal(to: head, for: request) != nil
  }

  /// Looks up a variable in this process's environment.
  public static let processEnvironment: @Sendable (String) -> String? = { getenv($0).map { String(cString: $0) } }

  private func error(_ error: TransportError, since start: ContinuousClock.Instant) -> CacheError {
    let ended = totalTimeout.flatMap { ContinuousClock.now - start >= $0 ? $0 : nil }
    return CacheError(
      error, timeout: ended ?? timeout, isForSilence: ended == nil && excess == .streamed, settings: settings)
  }

  /// The response of `exchange`, with as much of its content as memory may hold; with none if it is known to be longer,
  /// so that nothing is delayed. If it breaks off, the error has the part that arrived as an `IncompleteResponse`.
  private func begin(
    _ exchange: Exchange, of request: HTTPRequest, since start: ContinuousClock.Instant
  ) async throws(CacheError) -> HTTPResponse {
    var body: [UInt8] = []
    let length = exchange.announcedLength
    guard length ?? 0 <= limit, !isPassedOn(exchange.head, of: request, length: length) else {
      return response(exchange, body, since: start)
    }
    do throws(TransportError) {
      while let bytes = try await exchange.next() {
        body += bytes
        if body.count > limit { return response(exchange, body, since: start) }
      }
    } catch {
      let failure = self.error(error, since: start)
      guard failure.code == .originUnreachable, exchange.announcedLength != nil else { throw failure }
      let incomplete = IncompleteResponse(HTTPResponse(exchange.head, body: body))
      throw CacheError(failure.code, failure.message, hint: failure.hint, cause: incomplete)
    }
    return HTTPResponse(exchange, body: body)
  }

  private func response(
    _ exchange: Exchange, _ body: [UInt8], since start: ContinuousClock.Instant
  ) -> HTTPResponse {
    let length = exchange.announcedLength.map { $0 - body.count }
    let rest = StreamedContent(length: length, trailers: { exchange.trailers }) { () async throws(CacheError) in
      do throws(TransportError) {
        return try await exchange.next()
      } catch {
        throw self.error(error, since: start)
      }
    }
    return HTTPResponse(exchange, body: body, rest: rest)
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
