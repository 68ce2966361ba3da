internal import CacheDomain
internal import Synchronization

/// A time after which the command is cancelled, whatever it waits for.
final class Deadline: Sendable {
  private static let grace = Duration.milliseconds(200)

  private let limit: Duration
  private let passed = Mutex(false)

  /// The deadline `limit` and a little more from now for the task that calls this, which must be the command's: it lasts
  /// as long as the process. A transfer that has the same limit ends sooner, so that a stale answer can stand in.
  init(_ limit: Duration) {
    self.limit = limit
    let command = withUnsafeCurrentTask { task in task.map { RunningTask(task: $0) } }
    Task.detached {
      try? await Task.sleep(for: limit + Self.grace)
      self.passed.withLock { $0 = true }
      command?.task.cancel()
    }
  }

  /// What `error`, with which the command has ended, means: that the time is over, where that is why it was cancelled.
  func explained(_ error: CacheError) -> CacheError {
    guard error.code == .cancelled, passed.withLock({ $0 }) else { return error }
    return CacheError(
      .originUnreachable, "there was no whole answer within \(limit)", hint: "try again later, or raise --max-time")
  }
}
