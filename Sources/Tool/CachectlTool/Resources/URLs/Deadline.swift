internal import CacheDomain
internal import Synchronization

/// A time limit after which the command is cancelled, whatever it is waiting for.
final class Deadline: Sendable {
  private static let grace = Duration.milliseconds(200)

  private let limit: Duration
  private let passed = Mutex(false)

  /// A deadline of `limit` and a little more from now, for the calling task, which must be the command's: that one
  /// lasts as long as the process. A transfer with the same limit ends sooner, so that a stale answer can stand in.
  init(_ limit: Duration) {
    self.limit = limit
    let command = withUnsafeCurrentTask { task in task.map { RunningTask(task: $0) } }
    Task.detached {
      try? await Task.sleep(for: limit + Self.grace)
      self.passed.withLock { $0 = true }
      command?.task.cancel()
    }
  }

  /// The error to report for `error`, with which the command ended: the time limit, if that is why the command was
  /// cancelled.
  func explained(_ error: CacheError) -> CacheError {
    guard error.code == .cancelled, passed.withLock({ $0 }) else { return error }
    return CacheError(
      .originUnreachable, "the answer was not complete within \(limit)", hint: "try again later, or raise --max-time")
  }
}
