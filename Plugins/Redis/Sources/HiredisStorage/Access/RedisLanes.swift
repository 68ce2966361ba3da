internal import EngineSupport
internal import StorageSPI
internal import Synchronization

/// The threads on which calls wait for servers. Each call goes to the least busy one.
///
/// Calls that need no thread are only admitted, so that closing waits for them too.
final class RedisLanes: Sendable {
  private struct State {
    /// The number of calls in progress on each thread.
    var loads: [Int]
    /// The number of calls that are admitted.
    var admitted = 0
    /// Those that wait until no call is admitted.
    var closing: [CheckedContinuation<Void, Never>] = []
    var isClosed = false
  }

  private let executors: [BlockingExecutor]
  private let state: Mutex<State>

  init(count: Int) {
    executors = (0..<count).map { _ in BlockingExecutor() }
    state = Mutex(State(loads: Array(repeating: 0, count: count)))
  }

  /// Runs `work` on one of the threads.
  ///
  /// - Parameter isAdmitted: whether the call is one that was admitted.
  func run<Output: Sendable>(
    isAdmitted: Bool = false, _ work: @escaping @Sendable () throws(CacheError) -> Output
  ) async throws(CacheError) -> Output {
    guard let lane = takeLane(isAdmitted) else { throw .storeClosed }
    defer { state.withLock { $0.loads[lane] -= 1 } }
    return try await executors[lane].run(work)
  }

  /// Admits a call, until it leaves.
  func admit() throws(CacheError) {
    let isOpen = state.withLock { state in
      if !state.isClosed { state.admitted += 1 }
      return !state.isClosed
    }
    if !isOpen { throw .storeClosed }
  }

  /// Ends an admitted call.
  func leave() {
    let closing = state.withLock { state -> [CheckedContinuation<Void, Never>] in
      state.admitted -= 1
      guard state.admitted == 0 else { return [] }
      defer { state.closing = [] }
      return state.closing
    }
    for continuation in closing { continuation.resume() }
  }

  /// Picks the least busy thread and counts a call on it; `nil` after `close()`, unless the call was admitted before.
  private func takeLane(_ isAdmitted: Bool) -> Int? {
    state.withLock { state in
      guard isAdmitted || !state.isClosed, let lane = state.loads.indices.min(by: { state.loads[$0] < state.loads[$1] })
      else {
        return nil
      }
      state.loads[lane] += 1
      return lane
    }
  }

  /// Rejects new calls from now on, and waits for those in progress.
  func close() async throws(CacheError) {
    state.withLock { $0.isClosed = true }
    await withCheckedContinuation { continuation in
      let isQuiet = state.withLock { state in
        if state.admitted > 0 { state.closing.append(continuation) }
        return state.admitted == 0
      }
      if isQuiet { continuation.resume() }
    }
    while state.withLock({ $0.loads.contains { $0 > 0 } }) {
      for executor in executors { try await executor.run {} }
    }
  }
}
