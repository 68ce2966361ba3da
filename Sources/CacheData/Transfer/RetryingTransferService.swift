public import CacheDomain

/// Tries requests again that a server is too busy to answer (429 and 503), if that is safe: those that change nothing.
///
/// It waits for as long as `Retry-After` says, or a little longer each time where it says nothing. Where that would be
/// too long, or the last attempt failed too, the server's answer is passed on as it is.
public struct RetryingTransferService: DataTransferService {
  private static let safeMethods: Set = ["GET", "HEAD", "OPTIONS", "TRACE"]
  private static let busyStatuses: Set = [429, 503]

  /// How often and how long is waited.
  public struct Patience: Sendable, Hashable {
    /// How many attempts there are in all, 1 or more.
    public let attempts: Int
    /// How long is waited before the second attempt where the server does not say; twice as long before each further.
    public let firstPause: Duration
    /// How long is waited at most for one attempt.
    public let longestPause: Duration

    /// Patience of the given kind.
    public init(
      attempts: Int = 3, firstPause: Duration = .milliseconds(500), longestPause: Duration = .seconds(20)
    ) {
      self.attempts = attempts
      self.firstPause = firstPause
      self.longestPause = longestPause
    }
  }

  private let base: any DataTransferService
  private let patience: Patience
  private let now: @Sendable () -> Duration
  private let random: @Sendable () -> Double
  private let sleep: @Sendable (Duration) async throws -> Void

  /// A service in front of `base`.
  ///
  /// - Parameters:
  ///   - now: the time since 1970-01-01T00:00:00Z, for dates in `Retry-After`.
  ///   - random: a number from 0 to 1, by which clients that were turned away together do not come back together.
  ///   - sleep: waits, and throws as soon as its task is cancelled.
  public init(
    _ base: any DataTransferService, patience: Patience = Patience(), now: @escaping @Sendable () -> Duration,
    random: @escaping @Sendable () -> Double = { Double.random(in: 0...1) },
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  ) {
    self.base = base
    self.patience = patience
    self.now = now
    self.random = random
    self.sleep = sleep
  }

  /// The server's answer to `request`, after as many attempts as it takes and patience allows.
  ///
  /// - Throws: `CacheError`: what `base` throws, at once; `cancelled`.
  public func transfer(_ request: HTTPRequest) async throws(CacheError) -> HTTPResponse {
    var attempt = 1
    while true {
      let response = try await base.transfer(request)
      guard attempt < patience.attempts, isRepeatable(request),
        Self.busyStatuses.contains(response.head.status), let pause = pause(after: response.head, attempt: attempt)
      else { return response }
      do { try await sleep(pause) } catch { throw .cancelled }
      attempt += 1
    }
  }

  private func isRepeatable(_ request: HTTPRequest) -> Bool {
    Self.safeMethods.contains(request.method) && request.body.isEmpty && request.stream == nil
  }

  /// How long to wait after the attempt number `attempt`; `nil` where that is too long.
  private func pause(after head: HTTPResponseHead, attempt: Int) -> Duration? {
    if let demanded = RetryAfter.delay(head, now: now()) { return demanded <= patience.longestPause ? demanded : nil }
    let pause = min(patience.firstPause * (1 << min(attempt - 1, 16)), patience.longestPause)
    return pause / 2 + pause / 2 * random()
  }
}
