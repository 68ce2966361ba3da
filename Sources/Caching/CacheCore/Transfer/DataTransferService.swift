internal import Synchronization

/// Sends requests to servers and returns their responses. It follows no redirects and stores nothing.
public protocol DataTransferService: Sendable {
  /// The response to `request`, whatever its status: complete, or with a `rest` that arrives while it is read. Cancelling
  /// the task ends the transfer, and so does releasing the rest.
  ///
  /// - Throws: `CacheError`: `originUnreachable` if no connection could be made or it broke off, `invalidAnswer` if the
  ///   response is not HTTP, incomplete or too large, `invalidRequest`, `cancelled`. The rest throws the same.
  func transfer(_ request: HTTP.Request) async throws(CacheError) -> HTTP.Response
}

/// Limits the number of transfers under way. The others wait for their turn, first come, first served. A transfer lasts
/// until its content has ended or failed, or has been released.
public struct LimitedTransferService: DataTransferService {
  private let base: any DataTransferService
  private let turns: TurnQueue

  /// Creates a service in front of `base` that sends at most `limit` (1 or more) requests at once.
  public init(_ base: any DataTransferService, limit: Int) {
    self.base = base
    turns = TurnQueue(limit)
  }

  /// Waits for a turn, and returns the response to `request`.
  ///
  /// - Throws: `CacheError`: what `base` throws; `cancelled`, even while waiting.
  public func transfer(_ request: HTTP.Request) async throws(CacheError) -> HTTP.Response {
    _ = try await turns.take()
    do throws(CacheError) {
      var response = try await base.transfer(request)
      if let rest = response.rest {
        response.rest = rest.whenEnded { turns.giveBack() }
      } else {
        turns.giveBack()
      }
      return response
    } catch {
      turns.giveBack()
      throw error
    }
  }
}

/// A transfer as it can be logged: without anything that could be a secret.
public struct TransferRecord: Sendable, Hashable {
  /// The method.
  public let method: String
  /// The URL without credentials, and with `?...` instead of the query, which might contain a key.
  public let url: String
  /// The status of the response; `nil` if there was none.
  public let status: Int?
  /// The number of content bytes that arrived.
  public let byteCount: Int
  /// The duration of the transfer.
  public let duration: Duration
  /// The kind of failure; `nil` if there was a response.
  public let failure: CacheError.Code?
}

/// Records transfers.
public protocol TransferLogger: Sendable {
  /// Records a transfer that has ended.
  func log(_ record: TransferRecord)
}

/// Passes a record of each transfer to a logger: when its content has ended or failed, or has been released.
public struct LoggingTransferService: DataTransferService {
  private let base: any DataTransferService
  private let logger: any TransferLogger
  private let now: @Sendable () -> ContinuousClock.Instant

  /// Creates a service in front of `base` that reports to `logger`. `now` is the clock that measures durations.
  public init(
    _ base: any DataTransferService, logger: any TransferLogger,
    now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) {
    self.base = base
    self.logger = logger
    self.now = now
  }

  /// The response of `base`.
  ///
  /// - Throws: `CacheError`: what `base` throws.
  public func transfer(_ request: HTTP.Request) async throws(CacheError) -> HTTP.Response {
    let start = now()
    do throws(CacheError) {
      var response = try await base.transfer(request)
      let (status, count) = (response.head.status, response.body.count)
      guard let rest = response.rest else {
        log(request, status: status, byteCount: count, since: start)
        return response
      }
      let counter = Counter(count)
      let record: @Sendable () -> Void = {
        log(request, status: status, byteCount: counter.count.load(ordering: .relaxed), since: start)
      }
      response.rest = StreamedContent(length: rest.length, trailers: { rest.trailers }, whenEnded: record) {
        () async throws(CacheError) in
        let piece = try await rest.next()
        counter.count.add(piece?.count ?? 0, ordering: .relaxed)
        return piece
      }
      return response
    } catch {
      log(request, failure: error.code, since: start)
      throw error
    }
  }

  /// Counts the bytes of a response that is read.
  private final class Counter: Sendable {
    let count: Atomic<Int>

    init(_ count: Int) { self.count = Atomic(count) }
  }

  private func log(
    _ request: HTTP.Request, status: Int? = nil, byteCount: Int = 0, failure: CacheError.Code? = nil,
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
