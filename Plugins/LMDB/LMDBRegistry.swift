internal import EngineSupport
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
  }

  private let slots = Mutex<[LMDBFileIdentity: Slot]>([:])
  private let opening = Mutex<Void>(())

  /// The environment of the store in the folder `path`, which is created first if there is none.
  ///
  /// - Parameter mapSize: the initial map size; ignored if the environment is already open.
  func environment(
    at path: String, mapSize: Int, keyCoding: LMDBKeyCoding = LMDBKeyCoding()
  ) throws(CacheError) -> LMDBEnvironmentUse {
    try opening.withLock { _ throws(CacheError) in
      if let identity = LMDBFile.identity(LMDBFile.data(in: path)), let use = existing(identity) { return use }
      try requireUnusedLocks(path)
      try LMDBCreation.ensureStore(at: path)
      let environment = try LMDBEnvironment(path: path, mapSize: mapSize, keyCoding: keyCoding) { [self] identity in
        slots.withLock { $0[identity] = nil }
      }
      try environment.openMainDatabase()
      let use = LMDBEnvironmentUse(environment)
      slots.withLock {
        $0[environment.identity] = Slot(use: use, locks: LMDBFile.identity(LMDBFile.lock(in: path)))
      }
      return use
    }
  }

  /// Fails if this process has the data file open that was at `path` before the current one. That environment uses the
  /// lock file, and nothing else would stop this process from treating the file as unused.
  private func requireUnusedLocks(_ path: String) throws(CacheError) {
    guard let locks = LMDBFile.identity(LMDBFile.lock(in: path)) else { return }
    if slots.withLock({ $0.values.contains { $0.locks == locks } }) { throw .lmdbStoreReplaced(path) }
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
}

/// Removal, which works on a store in any state. Deleting needs no disk space; moving aside needs a few blocks.
extension LMDBRegistry {
  /// Removes the store in the folder `path`, or moves it into a new folder next to it. The lock file stays, emptied.
  ///
  /// - Parameter suffix: what to append to the name of the folder; `nil` to delete the data file.
  /// - Returns: the new folder; nothing if the store was deleted, or there is none.
  func removeStore(at path: String, movingAside suffix: String?) throws(CacheError) -> [String] {
    try whileClosed(at: path) { () throws(CacheError) in
      try LMDBOwnership.requireOwn(path)
      let data = LMDBFile.data(in: path)
      guard LMDBFile.status(data) != nil else { return [] }
      return try withLockAlone(path) { lock throws(CacheError) in
        // Something that is not a file is not a store of another version.
        if let file = try? LMDBDataFile(in: path) { try file.requireKnownFormat(path) }
        // The next process creates a new store, and must not mistake these locks for that store's.
        guard ftruncate(lock, 0) == 0 else { throw .lmdb(errno, "empty", path: path) }
        if let suffix { return [try moveAside(path, suffix)] }
        try delete(data, path)
        return []
      }
    }
  }

  /// Calls `body` with the lock that every process shares while it has the store open: no process has it open, and one
  /// that opens it waits.
  ///
  /// It is LMDB's own lock: the first byte of the lock file, locked with `fcntl`. A process loses it when it closes any
  /// descriptor of the file, so no environment of the store may be open in this one.
  ///
  /// - Throws: `busy` if another process has the store open.
  private func withLockAlone<Output>(
    _ path: String, _ body: (_ descriptor: Int32) throws(CacheError) -> Output
  ) throws(CacheError) -> Output {
    let descriptor = open(LMDBFile.lock(in: path), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .lmdb(errno, "lock", path: path) }
    defer { close(descriptor) }
    var region = flock()
    region.l_type = Int16(F_WRLCK)
    region.l_whence = Int16(SEEK_SET)
    region.l_len = 1
    guard fcntl(descriptor, F_SETLK, &region) == 0 else {
      throw errno == EACCES || errno == EAGAIN ? .lmdbStoreInUse(path) : .lmdb(errno, "lock", path: path)
    }
    return try body(descriptor)
  }

  private func delete(_ data: String, _ path: String) throws(CacheError) {
    guard unlink(data) != 0, errno != ENOENT else { return }
    guard errno == EISDIR || errno == EPERM else { throw .lmdb(errno, "remove", path: path) }
    guard rmdir(data) == 0 else {
      throw CacheError(.ioFailed, "\(data) is a folder with something in it", hint: "move it away")
    }
  }

  /// Moves the data file and the mark into a new folder, where the store can be opened.
  private func moveAside(_ path: String, _ suffix: String) throws(CacheError) -> String {
    // A folder that a link leads to may be on another file system than the link.
    var folder = StorePlace.resolved(path)
    while folder.count > 1, folder.hasSuffix("/") { folder.removeLast() }
    var aside = folder + suffix
    var number = 1
    while mkdir(aside, 0o700) != 0 {
      guard errno == EEXIST else { throw .lmdb(errno, "move aside", path: path) }
      number += 1
      aside = "\(folder)\(suffix)-\(number)"
    }
    // The mark is in both folders while the data file moves, which is of a store in either.
    let (mark, newMark) = (StoreMark(inFolder: path), StoreMark(inFolder: aside))
    do throws(CacheError) {
      if link(mark.path, newMark.path) != 0, errno != ENOENT { try newMark.create() }
      guard rename(LMDBFile.data(in: path), LMDBFile.data(in: aside)) == 0 else {
        throw .lmdb(errno, "move aside", path: path)
      }
    } catch {
      unlink(newMark.path)
      rmdir(aside)
      throw error
    }
    mark.remove()
    return aside
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
