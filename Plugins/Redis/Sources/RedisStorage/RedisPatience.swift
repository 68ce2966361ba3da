internal import Synchronization

/// How long a call waits for servers after its caller is cancelled.
///
/// The call goes on for a moment, because a cancelled caller still releases what it holds, and a healthy server answers
/// in that time.
final class RedisPatience: Sendable {
  private let rest: Duration
  private let end = Mutex<ContinuousClock.Instant?>(nil)

  /// The patience of a call with `options`: a twenty-fifth of the server's time to answer.
  init(_ options: RedisOptions) { rest = options.timeout / 25 }

  /// Records that the caller was cancelled.
  func cancel() { end.withLock { $0 = $0 ?? .now.advanced(by: rest) } }

  /// Whether a cancelled caller's call has waited long enough.
  var isOver: Bool { end.withLock { $0.map { $0 <= .now } ?? false } }
}
