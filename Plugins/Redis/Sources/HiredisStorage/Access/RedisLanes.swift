internal import EngineSupport
internal import StorageSPI
internal import Synchronization

/// The threads on which calls wait for servers: some for each server, so that no call waits behind those for another one,
/// and some for the calls about several servers. Each call goes to the least busy one.
///
/// Calls that need no thread are only admitted, so that closing waits for them too.
final class RedisLanes: Sendable {
  private struct State {
    var threads: [RedisAddress?: [Thread]] = [:]
    /// The number of calls that are admitted.
    var admitted = 0
    /// Those that wait until no call is admitted.
    var closing: [CheckedContinuation<Void, Never>] = []
    var isClosed = false
  }

  private struct Thread {
    let executor = BlockingExecutor()
    /// The number of calls in progress.
    var load = 0
  }

  private let count: Int
  private let state = Mutex(State())

  /// - Parameter count: the number of threads for each server.
  init(count: Int) { self.count = count }

  /// Runs `work` on one of the threads.
  ///
  /// - Parameters:
  ///   - server: the server that the call is about; `nil` if it is about several, or the server is unknown.
  ///   - isAdmitted: whether the call is one that was admitted.
  func run<Output: Sendable>(
    for server: RedisAddress?, isAdmitted: Bool = false, _ work: @escaping @Sendable () throws(CacheError) -> Output
  ) async throws(CacheError) -> Output {
    guard let (lane, executor) = takeLane(server, isAdmitted) else { throw .storeClosed }
    defer { state.withLock { $0.threads[server]?[lane].load -= 1 } }
    return try await executor.run(work)
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
  private func takeLane(_ server: RedisAddress?, _ isAdmitted: Bool) -> (Int, BlockingExecutor)? {
    state.withLock { state in
      guard isAdmitted || !state.isClosed else { return nil }
      var threads = state.threads[server] ?? (0..<count).map { _ in Thread() }
      guard let lane = threads.indices.min(by: { threads[$0].load < threads[$1].load }) else { return nil }
      threads[lane].load += 1
      state.threads[server] = threads
      return (lane, threads[lane].executor)
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
    while case let busy = busyExecutors, !busy.isEmpty {
      for executor in busy { try await executor.run {} }
    }
  }

  private var busyExecutors: [BlockingExecutor] {
    state.withLock { $0.threads.values.joined().filter { $0.load > 0 }.map(\.executor) }
  }
}
