internal import CLMDB
internal import EngineSupport
internal import Platform
internal import StorageSPI

/// Identifies a file regardless of its name.
struct LMDBFileIdentity: Sendable, Hashable {
  let device: UInt64
  let inode: UInt64

  init(_ status: stat) {
    device = UInt64(truncatingIfNeeded: status.st_dev)
    inode = UInt64(status.st_ino)
  }
}

/// The folder of a store and the files in it.
enum LMDBFile {
  /// The number with which LMDB begins a meta page, and its lock file.
  static let magic: UInt32 = 0xBEEF_C0DE

  static func data(in folder: String) -> String { folder + "/data.mdb" }
  static func lock(in folder: String) -> String { folder + "/lock.mdb" }

  static func status(_ path: String) -> stat? {
    var status = stat()
    return stat(path, &status) == 0 ? status : nil
  }

  static func identity(_ path: String) -> LMDBFileIdentity? { status(path).map { LMDBFileIdentity($0) } }

  /// The disk space of the files: their allocated blocks, since LMDB may leave holes.
  static func allocatedBytes(in folder: String) -> Int {
    [data(in: folder), lock(in: folder)].reduce(0) { $0 + Int(status($1)?.st_blocks ?? 0) * 512 }
  }

  /// Creates the folder and its missing parents, accessible to the user alone, unless it exists.
  static func makeFolder(_ path: String) throws(CacheError) {
    if let status = status(path) {
      guard status.st_mode & S_IFMT == S_IFDIR else { throw cannotCreate(path, ENOTDIR) }
      return
    }
    if let slash = path.lastIndex(of: "/"), slash != path.startIndex { try makeFolder(String(path[..<slash])) }
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw cannotCreate(path, errno) }
  }

  /// Reserves disk space for the lock file. LMDB maps it and then writes to it, and without space that ends the
  /// process. At least the first page is reserved, which holds most readers.
  ///
  /// No environment of the store may be open in this process: it would lose its locks.
  ///
  /// - Throws: `noSpace`. LMDB reports everything else.
  static func reserveLocks(in folder: String) throws(CacheError) {
    if let status = status(lock(in: folder)), Int(status.st_blocks) * 512 >= locksSize { return }
    let descriptor = open(lock(in: folder), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    for size in [locksSize, locksHeaderSize] where clmdb_reserve(descriptor, off_t(size)) == 0 { return }
    guard errno != ENOSPC, errno != EDQUOT else { throw .lmdb(errno, "open", path: folder) }
  }

  private static let locksHeaderSize = 4_096
  /// At least the size that LMDB gives it: a header, and 64 bytes for each reader.
  private static let locksSize = locksHeaderSize + Int(LMDBEnvironment.maximumReaders) * 64

  /// Whether the disk of the folder `path` is full but for a few pages.
  static func isDiskFull(at path: String) -> Bool {
    var status = statvfs()
    return statvfs(path, &status) == 0 && Int(status.f_bavail) * Int(status.f_frsize) < 65_536
  }

  /// The error for a store that cannot be created in the folder `path`.
  static func cannotCreate(_ path: String, _ status: Int32) -> CacheError {
    let error = CacheError.lmdb(status, "create", path: path)
    if error.code == .noSpace { return error }
    let status = LMDBStatus(code: status)
    return CacheError(
      .cannotCreate, "cannot create the LMDB store \(path) (\(status))",
      hint: "set another path, or make one of its parents a folder that you may write to", cause: status)
  }
}

/// Creates new stores so that the data file appears whole or not at all. LMDB itself creates the file first and then
/// fills it, so an empty file could be an interrupted creation, or a store that something has emptied.
enum LMDBCreation {
  /// Creates an empty store in the folder `path`, unless there is one.
  ///
  /// - Throws: `CacheError`: `cannotCreate` if the folder belongs to someone else; `damaged` if LMDB cannot map what is
  ///   there; `unsupportedFormat`, `noSpace`, `permissionDenied`, `ioFailed`.
  static func ensureStore(at path: String) throws(CacheError) {
    let isStore = try LMDBOwnership.requireOwn(path)
    if isStore, try LMDBDataFile.check(in: path) { return }
    try LMDBFile.makeFolder(path)
    try makeStore(in: path)
  }

  /// Creates an empty store in `folder`, unless another process has just created one.
  ///
  /// It creates the mark first. Then it creates the data file in a folder of its own, and links it into place once it is
  /// complete and on disk.
  private static func makeStore(in folder: String) throws(CacheError) {
    do throws(CacheError) {
      try StoreMark(inFolder: folder).create()
    } catch {
      throw error.code == .permissionDenied ? LMDBFile.cannotCreate(folder, EACCES) : error
    }
    // Two containers may share the folder, and give their processes the same numbers.
    let space = SmallFile.target("/proc/self/ns/pid")?.filter(\.isNumber) ?? ""
    let scratch = "\(folder)/new-\(space)-\(getpid())"
    removeFolder(scratch)
    defer { removeFolder(scratch) }
    guard mkdir(scratch, 0o700) == 0 else { throw LMDBFile.cannotCreate(folder, errno) }
    do throws(CacheError) { try makeDataFile(in: scratch) } catch {
      throw LMDBFile.cannotCreate(folder, error.lmdbStatus ?? EIO)
    }
    guard link(LMDBFile.data(in: scratch), LMDBFile.data(in: folder)) == 0 || errno == EEXIST else {
      throw LMDBFile.cannotCreate(folder, errno)
    }
  }

  /// Creates a data file with an empty tally, and waits until it is on disk.
  private static func makeDataFile(in folder: String) throws(CacheError) {
    // Without locks: no other process knows of it, and the disk may have no room for them.
    let environment = try LMDBEnvironment(
      path: folder, mapSize: 10 * LMDBEnvironment.mapGranularity, attempts: [MDB_NOLOCK])
    let transaction = try LMDBTransaction(environment, flags: 0)
    _ = try transaction.openDatabase(nil)
    try transaction.write(LMDBSummary(transaction: transaction.number))
    try transaction.commit()
  }

  /// Also removes what a process with the same number left behind when it died here.
  private static func removeFolder(_ folder: String) {
    unlink(LMDBFile.data(in: folder))
    unlink(LMDBFile.lock(in: folder))
    rmdir(folder)
  }
}
