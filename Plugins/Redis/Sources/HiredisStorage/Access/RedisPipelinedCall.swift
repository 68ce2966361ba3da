internal import Synchronization

/// A call in a pipeline: whatever ends it first counts, an answer, the loss of the connection or the cancellation of the task.
final class RedisPipelinedCall: Sendable {
  enum Outcome: Sendable {
    case answered(RedisReply)
    /// The server was not asked.
    case unsent
    /// The server was asked, and perhaps did what it was asked for.
    case lost(isSilent: Bool)
  }

  private struct State {
    var outcome: Outcome?
    var continuation: CheckedContinuation<Void, Never>?
  }

  /// When the call began.
  let start = ContinuousClock.now
  private let state = Mutex(State())

  /// Whether there is an outcome.
  var isFinished: Bool { state.withLock { $0.outcome != nil } }

  /// Waits for the outcome.
  func outcome() async -> Outcome {
    if let outcome = state.withLock({ $0.outcome }) { return outcome }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isFinished = state.withLock { state in
          if state.outcome == nil { state.continuation = continuation }
          return state.outcome != nil
        }
        if isFinished { continuation.resume() }
      }
    } onCancel: {
      finish(.lost(isSilent: false))
    }
    // Read under the lock, which also makes visible what the other thread wrote.
    return state.withLock { $0.outcome ?? .unsent }
  }

  /// Ends the call, unless it has ended.
  func finish(_ outcome: Outcome) {
    let continuation = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard state.outcome == nil else { return nil }
      state.outcome = outcome
      defer { state.continuation = nil }
      return state.continuation
    }
    continuation?.resume()
  }
}
