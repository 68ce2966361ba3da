public import CacheDomain

/// A transfer as it may be logged: without anything that may be a secret.
public struct TransferRecord: Sendable, Hashable {
  /// The method.
  public let method: String
  /// The URL without credentials and with `?...` in place of a query, which may hold a key.
  public let url: String
  /// The status that was answered; `nil` where there was no answer.
  public let status: Int?
  /// How many bytes of content were answered; of content that comes in as it is read, how many had come by then.
  public let byteCount: Int
  /// How long it took.
  public let duration: Duration
  /// The kind of failure; `nil` where there was an answer.
  public let failure: CacheError.Code?
}

/// Takes note of transfers.
public protocol TransferLogger: Sendable {
  /// Takes note of a transfer that has ended.
  func log(_ record: TransferRecord)
}

/// Tells a logger of each transfer.
public struct LoggingTransferService: DataTransferService {
  private let base: any DataTransferService
  private let logger: any TransferLogger
  private let now: @Sendable () -> ContinuousClock.Instant

  /// A service in front of `base` that tells `logger`. `now` is the time by which durations are measured.
  public init(
    _ base: any DataTransferService, logger: any TransferLogger,
    now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) {
    self.base = base
    self.logger = logger
    self.now = now
  }

  /// The answer of `base`.
  ///
  /// - Throws: `CacheError`: what `base` throws.
  public func transfer(_ request: HTTPRequest) async throws(CacheError) -> HTTPResponse {
    let start = now()
    do throws(CacheError) {
      let response = try await base.transfer(request)
      log(request, status: response.head.status, byteCount: response.body.count, since: start)
      return response
    } catch {
      log(request, failure: error.code, since: start)
      throw error
    }
  }

  private func log(
    _ request: HTTPRequest, status: Int? = nil, byteCount: Int = 0, failure: CacheError.Code? = nil,
    since start: ContinuousClock.Instant
  ) {
    logger.log(
      TransferRecord(
        method: request.method, url: Self.harmless(request.url), status: status, byteCount: byteCount,
        duration: now() - start, failure: failure))
  }

  private static func harmless(_ url: String) -> String {
    guard let parts = URLReference(url), let start = parts.withoutQuery else { return "(no URL)" }
    return start + (parts.query == nil ? "" : "?...")
  }
}
