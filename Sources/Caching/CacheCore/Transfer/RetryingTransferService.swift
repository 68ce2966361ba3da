/// Repeats requests that a server is too busy to serve (429 and 503), if they change nothing. With more patience, also
/// repeats requests after other failures that can pass. A response whose head has been passed on is never replaced,
/// even if its content breaks off.
///
/// It waits as long as `Retry-After` says, or without one a little longer each time. If that would be too long, or the
/// last attempt fails too, it returns the server's response unchanged.
public struct RetryingTransferService: DataTransferService {
  /// How often to retry, and how long to wait.
  public struct Patience: Sendable, Hashable {
    /// The total number of attempts, 1 or more.
    public let attempts: Int
    /// The pause before the second attempt if the server does not give one. It doubles before each further attempt.
    public let firstPause: Duration
    /// The longest pause before one attempt.
    public let longestPause: Duration
    /// The statuses that lead to another attempt.
    public var statuses: Set = [429, 503]
    /// Whether to try again if the server cannot be reached, or breaks off before the head of its response.
    public var isForFailures = false

    /// Creates the patience for requests that a busy server rejects.
    public init(
      attempts: Int = 3, firstPause: Duration = .milliseconds(500), longestPause: Duration = .seconds(20)
    ) {
      self.attempts = attempts
      self.firstPause = firstPause
      self.longestPause = longestPause
    }

    /// Creates the patience for `retries` further attempts. As with `curl --retry`, all statuses and failures that can
    /// pass count, and a pause lasts at most ten minutes.
    public init(retries: Int) {
      self.init(attempts: retries + 1, firstPause: .seconds(1), longestPause: .seconds(600))
      statuses = [408, 429, 500, 502, 503, 504]
      isForFailures = true
    }
  }

  private let base: any DataTransferService
  private let patience: Patience
  private let now: @Sendable () -> Duration
  private let random: @Sendable () -> Double
  private let sleep: @Sendable (Duration) async throws -> Void

  /// Creates a service in front of `base`.
  ///
  /// - Parameters:
  ///   - now: the time since 1970-01-01T00:00:00Z, for dates in `Retry-After`.
  ///   - random: a number from 0 to 1, which spreads out clients that were rejected together.
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

  /// Sends `request`, repeatedly if necessary and `patience` allows, and returns the response.
  ///
  /// - Throws: `CacheError`: what `base` throws, from the last attempt if `patience` covers failures; `cancelled`.
  public func transfer(_ request: HTTP.Request) async throws(CacheError) -> HTTP.Response {
    var attempt = 1
    while true {
      let result = await result(of: request)
      guard attempt < patience.attempts, isRepeatable(request), let pause = pause(after: result, attempt: attempt)
      else { return try result.get() }
      // Its connection is of no use during the pause.
      (try? result.get())?.rest?.release()
      do { try await sleep(pause) } catch { throw .cancelled }
      attempt += 1
    }
  }

  private func result(of request: HTTP.Request) async -> Result<HTTP.Response, CacheError> {
    do throws(CacheError) { return .success(try await base.transfer(request)) } catch { return .failure(error) }
  }

  private func isRepeatable(_ request: HTTP.Request) -> Bool {
    request.isSafe && request.body.isEmpty && request.stream == nil
  }

  /// How long to wait after attempt number `attempt`; `nil` if there must not be another, or the wait is too long.
  private func pause(after result: Result<HTTP.Response, CacheError>, attempt: Int) -> Duration? {
    switch result {
    case .success(let response):
      guard patience.statuses.contains(response.head.status) else { return nil }
      if let demanded = RetryAfter.delay(response.head, now: now()) {
        return demanded <= patience.longestPause ? demanded : nil
      }
    case .failure(let error):
      guard patience.isForFailures, error.code == .originUnreachable else { return nil }
    }
    let pause = min(patience.firstPause * (1 << min(attempt - 1, 16)), patience.longestPause)
    return pause / 2 + pause / 2 * random()
  }
}

/// When to ask a server again, according to its `Retry-After` field (RFC 9110, section 10.2.3).
package enum RetryAfter {
  /// How long to wait after the response with `head`; `nil` if it does not say. A date is compared with the response's
  /// own date, because the server's clock can differ from ours; without one, with `now`.
  package static func delay(_ head: HTTP.ResponseHead, now: Duration? = nil) -> Duration? {
    guard let value = head.fields["retry-after"] else { return nil }
    if let delay = DeltaSeconds.duration(value) { return delay }
    let date = head.fields["date"].flatMap { HTTPDate.time($0, now: now ?? .zero) }
    guard let sent = date ?? now, let time = HTTPDate.time(value, now: sent) else { return nil }
    return max(time - sent, .zero)
  }
}
