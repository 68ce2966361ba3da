internal import CLMDB
internal import EngineAPI
internal import CacheBase
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
    let locks: FileStatus.Identity?
  }

  private let slots = Mutex<[FileStatus.Identity: Slot]>([:])
  private let opening = Mutex<Void>(())

  /// The environment of the store in the directory `path`, which is created first if there is none.
  ///
  /// - Parameter mapSize: the initial map size; ignored if the environment is already open.
  /// - Throws: `CacheError`: `cannotCreate` if the directory belongs to someone else; `damaged` if LMDB cannot map the
  ///   file; `unsupportedFormat`, `noSpace`, `permissionDenied`, `busy`, `ioFailed`.
  func environment(
    at path: String, mapSize: Int
  ) throws(CacheError) -> LMDBEnvironmentUse {
    try opening.withLock { _ throws(CacheError) in
      let files = LMDBFiles(path)
      let file = try? LMDBDataFile(in: path)
      if let file, let use = existing(file.identity) { return use }
      try requireUnusedLocks(files)
      // The mark outside of the format matters only without the one inside.
      if (try? file?.check()) != true {
        let isStore = try files.isStore()
        if isStore, let file = try LMDBDataFile(in: path) {
          try file.check()
        } else {
          try files.create(mapSize: mapSize)
        }
      }
      let environment = try LMDBEnvironment(path: path, mapSize: mapSize) { [self] identity in
        slots.withLock { $0[identity] = nil }
      }
      let use = LMDBEnvironmentUse(environment)
      let locks = try? LMDBFiles.system.status(of: files.lock)?.identity
      slots.withLock { $0[environment.identity] = Slot(use: use, locks: locks) }
      return use
    }
  }

  /// Fails if this process has the data file open that was in the directory before the current one. That environment uses the
  /// lock file, and nothing else would stop this process from treating the file as unused.
  private func requireUnusedLocks(_ files: LMDBFiles) throws(CacheError) {
    let used = slots.withLock { $0.values.compactMap(\.locks) }
    guard !used.isEmpty, let locks = try? LMDBFiles.system.status(of: files.lock)?.identity else { return }
    if used.contains(locks) { throw .lmdbStoreReplaced(files.directory) }
  }

  /// Calls `body` while no environment of the store is open in this process; none can be opened meanwhile.
  ///
  /// - Throws: `busy` if one is open.
  func whileClosed(_ files: LMDBFiles, _ body: () throws(CacheError) -> [String]) throws(CacheError) -> [String] {
    try opening.withLock { _ throws(CacheError) in
      let data = try LMDBFiles.system.status(of: files.data)?.identity
      guard data.flatMap(existing) == nil else { throw .lmdbStoreInUse(files.directory) }
      try requireUnusedLocks(files)
      return try body()
    }
  }

  /// The open environment of the store, if there is one. If one is just being closed, it waits for that, which takes
  /// microseconds.
  private func existing(_ identity: FileStatus.Identity) -> LMDBEnvironmentUse? {
    while let slot = slots.withLock({ $0[identity] }) {
      if let use = slot.use { return use }
      sched_yield()
    }
    return nil
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
