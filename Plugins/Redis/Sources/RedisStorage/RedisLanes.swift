internal import StorageSPI
internal import Synchronization

/// The threads on which calls wait for servers: each call on the one with the least to do.
final class RedisLanes: Sendable {
  private let executors: [BlockingExecutor]
  private let loads: Mutex<[Int]>

  init(count: Int) {
    executors = (0..<count).map { _ in BlockingExecutor() }
    loads = Mutex(Array(repeating: 0, count: count))
  }

  func run<Output: Sendable>(
    _ work: @escaping @Sendable () throws(StorageError) -> Output
  ) async throws(StorageError) -> Output {
    let lane = loads.withLock { loads in
      let lane = loads.indices.min { loads[$0] < loads[$1] } ?? 0
      loads[lane] += 1
      return lane
    }
    defer { loads.withLock { $0[lane] -= 1 } }
    return try await executors[lane].run(work)
  }

  /// Waits for the calls under way.
  func drain() async throws(StorageError) {
    for executor in executors { try await executor.run {} }
  }
}
