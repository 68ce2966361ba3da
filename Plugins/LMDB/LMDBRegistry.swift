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
    weak var use: LMDBEnvironmentUse?
    /// Which file of locks it uses.
    let locks: LMDBFileIdentity?
  }

  private let slots = Mutex<[LMDBFileIdentity: Slot]>([:])
  private let opening = Mutex<Void>(())
  private let sound = Mutex(LMDBSoundFiles())
  /// The time in seconds since 1970, by the clock that files get their times from.
  private let now: @Sendable () -> Int

  init(now: @escaping @Sendable () -> Int = { time(nil) }) { self.now = now }

  /// The environment of the store in the folder `path`, which is made first where there is none.
  ///
  /// - Parameter mapSize: the size of the map to begin with; without effect where the environment is open already.
  func environment(
    at path: String, mapSize: Int, keyCoding: LMDBKeyCoding = LMDBKeyCoding()
  ) throws(StorageError) -> LMDBEnvironmentUse {
    try opening.withLock { _ throws(StorageError) in
      let status = LMDBFile.status(LMDBFile.data(in: path))
      if let status, let use = existing(LMDBFileIdentity(status)) { return use }
      try requireUnusedLocks(path)
      let (start, isSound) = (now(), isSound(status))
      let opened = try LMDBOpenedEnvironment(path: path, mapSize: mapSize, isSound: isSound)
      let state = opened.state
      let environment = LMDBEnvironment(opened, path: path, keyCoding: keyCoding) { [self] in forget($0) }
      try check(environment, state, from: start)
      try environment.openMainDatabase()
      let use = LMDBEnvironmentUse(environment)
      let slot = Slot(use: use, locks: LMDBFile.identity(LMDBFile.lock(in: path)))
      slots.withLock { $0[environment.identity] = slot }
      return use
    }
  }

  /// Fails where this process has the data file open that was in the place of the one in `path` before: that one uses
  /// the file of locks, which this process would not be kept from taking for unused.
  private func requireUnusedLocks(_ path: String) throws(StorageError) {
    guard let locks = LMDBFile.identity(LMDBFile.lock(in: path)) else { return }
    if slots.withLock({ $0.values.contains { $0.locks == locks } }) { throw .lmdbStoreReplaced(path) }
  }

  private func isSound(_ status: stat?) -> Bool {
    guard let status else { return false }
    return sound.withLock { $0.contains(LMDBSoundFiles.State(status)) }
  }

  /// Checks the structure, unless the file was found sound in this state.
  private func check(
    _ environment: LMDBEnvironment, _ state: LMDBSoundFiles.State, from start: Int
  ) throws(StorageError) {
    let latest = environment.latestTransaction
    if sound.withLock({ $0.contains(state, transaction: latest) }) { return }
    let checked = try environment.checkStructure(.bounded)
    sound.withLock { $0.add(state, transaction: checked, checkedFrom: start) }
  }

  /// Calls `body` while no environment of the store in the folder `path` is open in this process, and none is opened.
  ///
  /// - Throws: `busy` where one is open.
  func whileClosed<Output>(
    at path: String, _ body: () throws(StorageError) -> Output
  ) throws(StorageError) -> Output {
    try opening.withLock { _ throws(StorageError) in
      let identity = LMDBFile.identity(LMDBFile.data(in: path))
      guard identity.flatMap({ existing($0) }) == nil else { throw .lmdbStoreInUse(path) }
      try requireUnusedLocks(path)
      return try body()
    }
  }

  /// The open environment of the store, if there is one. Waits for one that is just being closed, which takes
  /// microseconds.
  private func existing(_ identity: LMDBFileIdentity) -> LMDBEnvironmentUse? {
    while true {
      let slot = slots.withLock { $0[identity] }
      guard let slot else { return nil }
      if let use = slot.use { return use }
      sched_yield()
    }
  }

  private func forget(_ identity: LMDBFileIdentity) {
    slots.withLock { $0[identity] = nil }
  }
}

/// Keeps an environment open for those who use it.
///
/// Apart from the environment, because the registry knows this one weakly: to count the references to an object that
/// anybody refers to weakly costs several times as much, and a commit counts those to the environment many times.
final class LMDBEnvironmentUse: Sendable {
  let environment: LMDBEnvironment

  init(_ environment: LMDBEnvironment) { self.environment = environment }
}
