internal import Synchronization

/// How long calls wait for a lock that another process holds: for the time-out, but not again right after one of them has
/// waited in vain. A fetch makes several calls, one after the other, and its response must not wait for each of them.
public final class LockPatience: Sendable {
  private let timeout: Duration
  private let now: @Sendable () -> Duration
  /// When a call last gave up; `nil` after one that got the lock.
  private let gaveUpAt = Mutex<Duration?>(nil)

  /// Patience for calls that wait for up to `timeout`.
  ///
  /// - Parameter now: the time since a fixed moment.
  public init(_ timeout: Duration, now: @escaping @Sendable () -> Duration = LockPatience.elapsed) {
    self.timeout = timeout
    self.now = now
  }

  /// The time since the process began to measure it, by a clock that nobody sets.
  public static let elapsed: @Sendable () -> Duration = {
    let start = SuspendingClock.now
    return { start.duration(to: .now) }
  }()

  /// Calls `body`, which needs the lock, with the time for which it may wait. That is a fiftieth of the timeout for as
  /// long as the timeout after a call that has waited and failed with `busy`: a lock that others hold for a moment is not
  /// a failure.
  ///
  /// - Throws: what `body` throws.
  public func wait<Output>(_ body: (Duration) throws(CacheError) -> Output) throws(CacheError) -> Output {
    let start = now()
    let isShort = gaveUpAt.withLock { $0.map { start - $0 < timeout } ?? false }
    do throws(CacheError) {
      let output = try body(isShort ? timeout / 50 : timeout)
      succeeded()
      return output
    } catch {
      if error.code == .busy, !isShort { gaveUpAt.withLock { $0 = now() } }
      throw error
    }
  }

  /// Notes that a call got the lock without waiting.
  public func succeeded() { gaveUpAt.withLock { $0 = nil } }
}
