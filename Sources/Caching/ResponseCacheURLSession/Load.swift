internal import Foundation
internal import Synchronization

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// Work for a task that runs elsewhere, and its outcome for the task.
final class Load: Sendable {
  enum Outcome: Sendable {
    /// The task gets this response and content.
    case response(HTTPURLResponse, Data)
    /// The task fails.
    case failure(any Error)
    /// Load the request without the cache.
    case plain
    /// What a response that bypassed the cache invalidated has been removed: the task can end.
    case invalidated
  }

  private struct State {
    var work: Task<Void, Never>?
    var outcome: Outcome?
  }

  private let state = Mutex(State())

  /// Whether there is work whose outcome has not been taken.
  var isUnderWay: Bool { state.withLock { $0.work != nil } }

  /// Starts `work`. When it is done, the protocol of `task` is started again, to take the outcome.
  func start(_ task: URLSessionTask, _ work: @escaping @Sendable () async -> Outcome) {
    state.withLock { state in
      state.work = Task {
        let outcome = await work()
        self.state.withLock { $0.outcome = outcome }
        // This leads back to the task's queue. A task that the program has suspended stays suspended, and takes the
        // outcome later.
        task.suspend()
        task.resume()
      }
    }
  }

  /// Returns the outcome once; `nil` if there is none yet.
  func takeOutcome() -> Outcome? {
    state.withLock { state in
      guard let outcome = state.outcome else { return nil }
      state = State()
      return outcome
    }
  }

  /// Cancels the work, whose outcome is no longer needed.
  func cancel() { state.withLock { $0.work }?.cancel() }
}
