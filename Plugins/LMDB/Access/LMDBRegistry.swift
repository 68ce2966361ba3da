internal import Platform
internal import StorageSPI
internal import Synchronization

/// The open environments of this process: one per store, however many handles there are on it.
///
/// LMDB locks with `fcntl`, and a process loses such locks when it closes any descriptor of the file. Two environments
/// on one store would silently lose each other's locks.
final class LMDBRegistry: Sendable {
  /// The process's registry.
  static let shared = LMDBRegistry()

  private struct Slot: Sendable {
    weak var use: LMDBEnvironmentUse?
    /// Identifies the lock file that it uses.
    let locks: LMDBFileIdentity?
    /// The state in which the file was opened, and its last transaction then.
    let opened: (state: LMDBSoundFiles.State, transaction: UInt64)
  }

  private let slots = Mutex<[LMDBFileIdentity: Slot]>([:])
  private let opening = Mutex<Void>(())
  private let sound = Mutex(LMDBSoundFiles())
  /// The time in seconds since 1970, by the clock that sets file times.
  private let now: @Sendable () -> Int
  /// The size of the smallest data file for which a record is written.
  private let smallestRecorded: Int

  init(
    now: @escaping @Sendable () -> Int = { time(nil) }, smallestRecorded: Int = LMDBSoundRecord.smallestFile
  ) {
    (self.now, self.smallestRecorded) = (now, smallestRecorded)
  }

  /// The environment of the store in the folder `path`, which is created first if there is none.
  ///
  /// - Parameter mapSize: the initial map size; ignored if the environment is already open.
  func environment(
    at path: String, mapSize: Int, keyCoding: LMDBKeyCoding = LMDBKeyCoding()
  ) throws(CacheError) -> LMDBEnvironmentUse {
    try opening.withLock { _ throws(CacheError) in
      let status = LMDBFile.status(LMDBFile.data(in: path))
      if let status, let use = existing(LMDBFileIdentity(status)) { return use }
      try requireUnusedLocks(path)
      let (start, isSound) = (now(), isSound(status))
      let opened = try LMDBOpenedEnvironment(path: path, mapSize: mapSize, isSound: isSound)
      let state = opened.state
      let environment = LMDBEnvironment(opened, path: path, keyCoding: keyCoding) { [self] identity, latest in
        close(identity, at: path, latest)
      }
      let latest = environment.latestTransaction
      try check(environment, state, latest, from: start)
      try environment.openMainDatabase()
      let use = LMDBEnvironmentUse(environment)
      let slot = Slot(use: use, locks: LMDBFile.identity(LMDBFile.lock(in: path)), opened: (state, latest))
      slots.withLock { $0[environment.identity] = slot }
      return use
    }
  }

  /// Fails if this process has the data file open that was at `path` before the current one. That environment uses the
  /// lock file, and nothing else would stop this process from treating the file as unused.
  private func requireUnusedLocks(_ path: String) throws(CacheError) {
    guard let locks = LMDBFile.identity(LMDBFile.lock(in: path)) else { return }
    if slots.withLock({ $0.values.contains { $0.locks == locks } }) { throw .lmdbStoreReplaced(path) }
  }

  private func isSound(_ status: stat?) -> Bool {
    guard let status else { return false }
    return sound.withLock { $0.contains(LMDBSoundFiles.State(status)) }
  }

  /// Checks the structure, unless the file is known to be sound in this state.
  private func check(
    _ environment: LMDBEnvironment, _ state: LMDBSoundFiles.State, _ latest: UInt64, from start: Int
  ) throws(CacheError) {
    let isRecorded = record(state, latest, environment.path)?.take() ?? false
    if isRecorded || sound.withLock({ $0.contains(state, transaction: latest) }) { return }
    let checked = try environment.checkStructure(.bounded)
    sound.withLock { $0.add(state, transaction: checked, checkedFrom: start) }
  }

  /// Calls `body` while no environment of the store in the folder `path` is open in this process; none can be opened
  /// meanwhile.
  ///
  /// - Throws: `busy` if one is open.
  func whileClosed<Output>(
    at path: String, _ body: () throws(CacheError) -> Output
  ) throws(CacheError) -> Output {
    try opening.withLock { _ throws(CacheError) in
      let identity = LMDBFile.identity(LMDBFile.data(in: path))
      guard identity.flatMap({ existing($0) }) == nil else { throw .lmdbStoreInUse(path) }
      try requireUnusedLocks(path)
      return try body()
    }
  }

  /// The open environment of the store, if there is one. If one is just being closed, it waits for that, which takes
  /// microseconds.
  private func existing(_ identity: LMDBFileIdentity) -> LMDBEnvironmentUse? {
    while true {
      let slot = slots.withLock { $0[identity] }
      guard let slot else { return nil }
      if let use = slot.use { return use }
      sched_yield()
    }
  }

  private func record(_ state: LMDBSoundFiles.State, _ transaction: UInt64, _ path: String) -> LMDBSoundRecord? {
    state.size < smallestRecorded ? nil : LMDBSoundRecord(state, transaction: transaction, in: path)
  }

  /// Forgets the environment of the file, which has just been closed, and records the file's state if it is sound.
  ///
  /// - Parameter latest: the last transaction; `nil` if damage was found while the file was open.
  private func close(_ identity: LMDBFileIdentity, at path: String, _ latest: UInt64?) {
    guard let slot = slots.withLock({ $0[identity] }) else { return }
    if let latest, let state = LMDBFile.status(LMDBFile.data(in: path)).map(LMDBSoundFiles.State.init),
      // If no transaction was committed, another program must have changed the file.
      state.identity == identity, state == slot.opened.state || latest != slot.opened.transaction
    {
      record(state, latest, path)?.leave()
    }
    slots.withLock { $0[identity] = nil }
  }
}

/// Keeps an environment open for its users.
///
/// It is separate from the environment because the registry holds it weakly. Counting references to an object with weak
/// references costs several times as much, and a commit retains and releases the environment many times.
final class LMDBEnvironmentUse: Sendable {
  let environment: LMDBEnvironment

  init(_ environment: LMDBEnvironment) { self.environment = environment }
}
