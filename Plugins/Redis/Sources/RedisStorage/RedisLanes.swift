internal import EngineSupport
internal import StorageSPI
internal import Synchronization

/// The threads on which calls wait for servers. Each call goes to the least busy one.
final class RedisLanes: Sendable {
  private struct State {
    /// The number of calls in progress on each thread.
    var loads: [Int]
    var isClosed = false
  }

  private let executors: [BlockingExecutor]
  private let state: Mutex<State>

  init(count: Int) {
    executors = (0..<count).map { _ in BlockingExecutor() }
    state = Mutex(State(loads: Array(repeating: 0, count: count)))
  }

  func run<Output: Sendable>(
    _ work: @escaping @Sendable () throws(CacheError) -> Output
  ) async throws(CacheError) -> Output {
    guard let lane = takeLane() else { throw .storeClosed }
    defer { state.withLock { $0.loads[lane] -= 1 } }
    return try await executors[lane].run(work)
  }

  /// Picks the least busy thread and counts a call on it; `nil` after `close()`.
  private func takeLane() -> Int? {
    state.withLock { state in
      guard !state.isClosed, let lane = state.loads.indices.min(by: { state.loads[$0] < state.loads[$1] }) else {
        return nil
      }
      state.loads[lane] += 1
      return lane
    }
  }

  /// Rejects new calls from now on, and waits for those in progress.
  func close() async throws(CacheError) {
    state.withLock { $0.isClosed = true }
    while state.withLock({ $0.loads.contains { $0 > 0 } }) {
      for executor in executors { try await executor.run {} }
    }
  }
}
