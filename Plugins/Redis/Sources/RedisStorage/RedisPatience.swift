internal import Synchronization

/// For how long a call waits for servers once its caller is cancelled.
///
/// The call goes on for a moment, because a cancelled caller still releases what it holds, and a server that is well
/// answers by then.
final class RedisPatience: Sendable {
  private let rest: Duration
  private let end = Mutex<ContinuousClock.Instant?>(nil)

  /// The patience of a call with `options`: a twenty-fifth of the time that a server has for its answer.
  init(_ options: RedisOptions) { rest = options.timeout / 25 }

  /// Notes that the caller is cancelled.
  func cancel() { end.withLock { $0 = $0 ?? .now.advanced(by: rest) } }

  /// Whether the call has waited for as long as a cancelled caller lets it.
  var isOver: Bool { end.withLock { $0.map { $0 <= .now } ?? false } }
}
