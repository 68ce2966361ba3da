internal import Glibc
internal import StorageSPI
internal import Synchronization

/// The environments that are open in this process: one for each store, however many handles there are on it.
///
/// LMDB locks with `fcntl`, whose locks a process loses when it closes any descriptor of the file: two environments on
/// one store would silently lose each other's.
final class LMDBRegistry: Sendable {
  /// The one of the process.
  static let shared = LMDBRegistry()

  private struct Slot: Sendable {
    weak var environment: LMDBEnvironment?
  }

  private let slots = Mutex<[LMDBFileIdentity: Slot]>([:])
  private let opening = Mutex<Void>(())

  /// The environment of the store in the folder `path`, which is made first where there is none.
  ///
  /// - Parameter mapSize: the size of the map to begin with; without effect where the environment is open already.
  func environment(
    at path: String, mapSize: Int, keyCoding: LMDBKeyCoding = LMDBKeyCoding()
  ) throws(StorageError) -> LMDBEnvironment {
    try opening.withLock { _ throws(StorageError) in
      if let environment = existing(at: path) { return environment }
      let opened = try LMDBOpenedEnvironment(path: path, mapSize: mapSize)
      let environment = LMDBEnvironment(opened, path: path, keyCoding: keyCoding) { [self] in forget($0) }
      try environment.checkStructure(.bounded)
      try environment.openMainDatabase()
      slots.withLock { $0[environment.identity] = Slot(environment: environment) }
      return environment
    }
  }

  /// Calls `body` while no environment of the store in the folder `path` is open in this process, and none is opened.
  ///
  /// - Throws: `busy` where one is open.
  func whileClosed<Output>(
    at path: String, _ body: () throws(StorageError) -> Output
  ) throws(StorageError) -> Output {
    try opening.withLock { _ throws(StorageError) in
      guard existing(at: path) == nil else { throw .lmdbStoreInUse(path) }
      return try body()
    }
  }

  /// The open environment of the store, if there is one. Waits for one that is just being closed, which takes
  /// microseconds.
  private func existing(at path: String) -> LMDBEnvironment? {
    guard let identity = LMDBFile.identity(LMDBFile.data(in: path)) else { return nil }
    while true {
      let slot = slots.withLock { $0[identity] }
      guard let slot else { return nil }
      if let environment = slot.environment { return environment }
      sched_yield()
    }
  }

  private func forget(_ identity: LMDBFileIdentity) {
    slots.withLock { $0[identity] = nil }
  }
}
