internal import CLMDB
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

  /// The environment of the store in the directory `path`, which is created first if there is none.
  ///
  /// - Parameter mapSize: the initial map size; ignored if the environment is already open.
  /// - Throws: `CacheError`: `cannotCreate` if the directory belongs to someone else; `damaged` if LMDB cannot map what is
  ///   there; `unsupportedFormat`, `noSpace`, `permissionDenied`, `busy`, `ioFailed`.
  func environment(
    at path: String, mapSize: Int, keyCoding: LMDBKeyCoding = LMDBKeyCoding()
  ) throws(CacheError) -> LMDBEnvironmentUse {
    try opening.withLock { _ throws(CacheError) in
      let file = try? LMDBDataFile(in: path)
      if let file, let use = existing(file.identity) { return use }
      try requireUnusedLocks(path)
      // The mark outside of the format matters only without the one inside.
      if (try? file?.check()) != true {
        let isStore = try LMDBDataFile.isStore(path)
        if isStore, let file = try LMDBDataFile(in: path) {
          try file.check()
        } else {
          try LMDBFile.makeStore(in: path, mapSize: mapSize)
        }
      }
      let environment = try LMDBEnvironment(path: path, mapSize: mapSize, keyCoding: keyCoding) { [self] identity in
        slots.withLock { $0[identity] = nil }
      }
      let use = LMDBEnvironmentUse(environment)
      let locks = LMDBFile.status(LMDBFile.lock(in: path)).map(LMDBFileIdentity.init)
      slots.withLock { $0[environment.identity] = Slot(use: use, locks: locks) }
      return use
    }
  }

  /// Fails if this process has the data file open that was at `path` before the current one. That environment uses the
  /// lock file, and nothing else would stop this process from treating the file as unused.
  private func requireUnusedLocks(_ path: String) throws(CacheError) {
    let used = slots.withLock { $0.values.compactMap(\.locks) }
    guard !used.isEmpty, let locks = LMDBFile.status(LMDBFile.lock(in: path)) else { return }
    if used.contains(LMDBFileIdentity(locks)) { throw .lmdbStoreReplaced(path) }
  }

  /// Calls `body` while no environment of the store in the directory `path` is open in this process; none can be opened
  /// meanwhile.
  ///
  /// - Throws: `busy` if one is open.
  func whileClosed(at path: String, _ body: () throws(CacheError) -> [String]) throws(CacheError) -> [String] {
    try opening.withLock { _ throws(CacheError) in
      let data = LMDBFile.status(LMDBFile.data(in: path))
      guard data.flatMap({ existing(LMDBFileIdentity($0)) }) == nil else { throw .lmdbStoreInUse(path) }
      try requireUnusedLocks(path)
      return try body()
    }
  }

  /// The open environment of the store, if there is one. If one is just being closed, it waits for that, which takes
  /// microseconds.
  private func existing(_ identity: LMDBFileIdentity) -> LMDBEnvironmentUse? {
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

/// Identifies a file regardless of its name.
struct LMDBFileIdentity: Sendable, Hashable {
  let device: UInt64
  let inode: UInt64

  init(_ status: stat) {
    device = UInt64(truncatingIfNeeded: status.st_dev)
    inode = UInt64(status.st_ino)
  }
}

/// The directory of a store and the files in it.
enum LMDBFile {
  static func data(in directory: String) -> String { directory + "/data.mdb" }
  static func lock(in directory: String) -> String { directory + "/lock.mdb" }

  static func status(_ path: String) -> stat? {
    var status = stat()
    return stat(path, &status) == 0 ? status : nil
  }

  /// The disk space of the files: their allocated blocks, since LMDB may leave holes.
  static func allocatedBytes(in directory: String) -> Int {
    [data(in: directory), lock(in: directory)].reduce(0) { $0 + Int(status($1)?.st_blocks ?? 0) * 512 }
  }

  /// Whether the disk of the directory `path` is full, except for a few pages.
  static func isDiskFull(at path: String) -> Bool {
    var status = statvfs()
    return statvfs(path, &status) == 0 && Int(status.f_bavail) * Int(status.f_frsize) < 65_536
  }

  /// Whether the lock file is empty, or begins as LMDB's lock files do.
  static func isLockFile(in directory: String) -> Bool {
    let file = open(lock(in: directory), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return false }
    defer { close(file) }
    var magic: UInt32 = 0
    let count = pread(file, &magic, 4, 0)
    return count == 0 || count == 4 && magic == LMDBMetaPage.magic
  }

  /// Reserves disk space for the lock file. LMDB maps it and then writes to it, and without space that ends the
  /// process. At least the first page is reserved, which holds most readers.
  ///
  /// No environment of the store may be open in this process: it would lose its locks.
  ///
  /// - Throws: `noSpace`. LMDB reports everything else.
  static func reserveLocks(in directory: String) throws(CacheError) {
    let headerSize = 4_096
    // At least the size that LMDB gives it: a header, and 64 bytes for each reader.
    let size = headerSize + Int(LMDBEnvironment.maximumReaders) * 64
    if let status = status(lock(in: directory)), Int(status.st_blocks) * 512 >= size { return }
    let descriptor = open(lock(in: directory), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    for size in [size, headerSize] where clmdb_reserve(descriptor, off_t(size)) == 0 { return }
    guard errno != ENOSPC, errno != EDQUOT else { throw .lmdb(errno, "open", path: directory) }
  }

  /// Creates an empty store in `directory`, unless another process has just created one: first the directory with its
  /// parents, accessible to the user alone, then the mark, then the data file.
  ///
  /// The data file appears whole or not at all, when it is on disk. LMDB itself creates the file first and then fills it, so
  /// that an empty file could be an interrupted creation, or a store that something has emptied.
  static func makeStore(in directory: String, mapSize: Int) throws(CacheError) {
    for index in directory.indices.dropFirst() where directory[index] == "/" {
      mkdir(String(directory[..<index]), 0o700)
    }
    guard mkdir(directory, 0o700) == 0 || errno == EEXIST else { throw .cannotCreateLMDBStore(directory, errno) }
    do throws(CacheError) { try StoreMark(inFolder: directory).create() } catch {
      throw error.code == .permissionDenied ? .cannotCreateLMDBStore(directory, EACCES) : error
    }
    guard let scratch = strdup(data(in: directory) + ".XXXXXX") else { throw .cannotCreateLMDBStore(directory, ENOMEM) }
    let descriptor = mkstemp(scratch)
    guard descriptor >= 0 else { throw .cannotCreateLMDBStore(directory, errno) }
    defer {
      close(descriptor)
      unlink(scratch)
      free(scratch)
    }
    // LMDB's largest page is of 32 KiB.
    let content = LMDBMetaPage.emptyFile(pageSize: min(Int(getpagesize()), 32_768), mapSize: mapSize)
    let written = pwrite(descriptor, content, content.count, 0)
    guard written == content.count, fsync(descriptor) == 0 else {
      throw .cannotCreateLMDBStore(directory, written < 0 || written == content.count ? errno : ENOSPC)
    }
    guard link(scratch, data(in: directory)) == 0 || errno == EEXIST else {
      throw .cannotCreateLMDBStore(directory, errno)
    }
  }
}
