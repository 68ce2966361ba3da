internal import Foundation
internal import FoundationNetworking
internal import Synchronization

/// Work for a task that goes on elsewhere, and its outcome on the way back.
final class Load: Sendable {
  enum Outcome: Sendable {
    /// The task has this response with this content.
    case response(HTTPURLResponse, Data)
    /// The task fails.
    case failure(any Error)
    /// The request is to be loaded without the cache.
    case plain
    /// What a response that came past the cache made invalid is removed: the task can end.
    case invalidated
  }

  private struct State {
    var work: Task<Void, Never>?
    var outcome: Outcome?
  }

  private let state = Mutex(State())

  /// Whether work has begun whose outcome was not taken yet.
  var isUnderWay: Bool { state.withLock { $0.work != nil } }

  /// Begins `work`. When it is done, the protocol of `task` is started once more, to take the outcome.
  func start(_ task: URLSessionTask, _ work: @escaping @Sendable () async -> Outcome) {
    state.withLock { state in
      state.work = Task {
        let outcome = await work()
        self.state.withLock { $0.outcome = outcome }
        // The way to the task's queue. A task that its program has suspended stays so, and comes for the outcome later.
        task.suspend()
        task.resume()
      }
    }
  }

  /// The outcome, once; `nil` where there is none yet.
  func takeOutcome() -> Outcome? {
    state.withLock { state in
      guard let outcome = state.outcome else { return nil }
      state = State()
      return outcome
    }
  }

  /// Ends the work, whose outcome has become useless.
  func cancel() { state.withLock { $0.work }?.cancel() }
}
