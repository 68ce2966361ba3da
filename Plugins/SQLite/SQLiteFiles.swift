internal import CSQLite
internal import EngineSupport
internal import Platform
internal import StorageSPI

/// The file operations around the database that SQLite does not offer.
///
/// None of them opens the database file itself: closing such a descriptor would drop every lock that this process has
/// on the file (a property of POSIX locks).
enum SQLiteFiles {
  /// The suffixes of the files next to a database.
  static let companions = ["-wal", "-shm", "-journal"]

  /// The suffix of a new store until it is complete.
  static let draft = "-new"

  /// The size of the smallest page, and therefore of the smallest database, in bytes.
  static let smallestPage = 512

  /// The size of the store's file in bytes, whatever its state; `nil` if there is no store: nothing, or an empty file
  /// without a mark or with the draft of a creation that was interrupted, or continues.
  ///
  /// - Throws: `CacheError`: `cannotCreate` if what is there belongs to someone else, or a link leads nowhere;
  ///   `permissionDenied`, `ioFailed`.
  static func sizeOfStore(at path: String) throws(CacheError) -> Int? {
    switch try StorePlace(path) {
    case .nothing: return nil
    case .folder, .other: throw .notAStore(path, "it is not a regular file")
    case .file(size: 0): return StoreMark(ofFile: path).isPresent && !exists(path + draft) ? 0 : nil
    case .file(let size):
      try SQLiteHeader(at: path).requireOwn(path)
      return size
    }
  }

  /// The size of the database at `path`, including the files next to it.
  static func storeSize(at path: String) -> Int { companions.reduce(size(of: path)) { $0 + size(of: path + $1) } }

  /// Whether anything exists at `path`.
  static func exists(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0
  }

  /// The size of the file at `path`; 0 if there is none.
  static func size(of path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }

  /// The folder that contains the file at `path`.
  static func folder(of path: String) -> String {
    let parts = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[..<$0]) } ?? "."
    return parts.isEmpty ? "/" : parts
  }

  /// The free space on the file system of the file at `path`, in bytes; `nil` if it is unknown.
  static func freeBytes(at path: String) -> Int? {
    var status = statvfs()
    guard statvfs(path, &status) == 0 else { return nil }
    return Int(status.f_bavail) * Int(status.f_frsize)
  }

  /// Whether this process may create files in the folder at `path`.
  static func isWritable(_ path: String) -> Bool { access(path, W_OK) == 0 }

  /// Creates the folder at `path` and any missing parents, accessible to the user alone.
  static func createFolder(_ path: String) throws(CacheError) {
    if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
    guard errno == ENOENT, path != folder(of: path) else { throw systemError(path, "cannot be made") }
    try createFolder(folder(of: path))
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw systemError(path, "cannot be made") }
  }

  /// Creates an empty file that only the user can access, replacing an older one.
  static func createFile(_ path: String) throws(CacheError) {
    unlink(path)
    let descriptor = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw systemError(path, "cannot be made") }
    close(descriptor)
  }

  static func remove(_ path: String) { unlink(path) }

  /// Removes the file at `path`, if there is one.
  static func removeIfPresent(_ path: String) throws(CacheError) {
    guard unlink(path) != 0, errno != ENOENT else { return }
    throw systemError(path, "cannot be removed", errno == EACCES || errno == EPERM ? .permissionDenied : .ioFailed)
  }

  static func rename(_ path: String, to target: String) throws(CacheError) {
    let result = Platform.rename(path, target)
    guard result == 0 else { throw systemError(target, "cannot be made") }
  }

  /// Gives the file at `path` a second name; only the new one if the file system knows no second names.
  static func link(_ path: String, as target: String) throws(CacheError) {
    if Platform.link(path, target) == 0 { return }
    if errno == EPERM || errno == ENOTSUP, Platform.rename(path, target) == 0 { return }
    throw systemError(target, "cannot be made", errno == EACCES || errno == EPERM ? .permissionDenied : .ioFailed)
  }

  /// Waits until everything written to the file or folder at `path` is on disk.
  static func synchronize(_ path: String) throws(CacheError) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw systemError(path, "cannot be opened") }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw systemError(path, "cannot be written") }
  }

  /// Calls `body` while holding the folder's lock, which excludes all other callers of this function in every process.
  ///
  /// - Parameter timeout: how long to wait for the lock, in milliseconds.
  static func withLock<Output>(
    onFolder folder: String, timeout: Int32, _ body: () throws(CacheError) -> Output
  ) throws(CacheError) -> Output {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw systemError(folder, "cannot be opened") }
    defer {
      // A process that is being started has the descriptor too, and with it the lock, until it runs its program.
      flock(descriptor, LOCK_UN)
      close(descriptor)
    }
    var waited: Int32 = 0
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      guard errno == EWOULDBLOCK || errno == EINTR else { throw systemError(folder, "cannot be locked") }
      guard waited < timeout else { throw CacheError(sqlite: SQLITE_BUSY, message: "folder is locked", path: folder) }
      usleep(1_000)
      waited += 1
    }
    return try body()
  }

  /// A connection that locks the file at `path`, whatever it contains, against all others until it is released. Run no
  /// statement on it.
  ///
  /// - Parameter timeout: how long to wait for other connections, in milliseconds.
  static func locked(_ path: String, timeout: Int32) throws(CacheError) -> SQLiteConnection {
    let connection = try SQLiteConnection(path: path, flags: SQLITE_OPEN_READWRITE, busyTimeout: 0)
    var code = csqlite_lock_file(connection.handle)
    for _ in 0..<max(0, timeout) where code & 0xFF == SQLITE_BUSY {
      usleep(1_000)
      code = csqlite_lock_file(connection.handle)
    }
    guard code == SQLITE_OK else {
      throw CacheError(sqlite: code, message: "it is open elsewhere, or cannot be locked", path: path)
    }
    return connection
  }

  /// The error of the last system call, which was on the file at `path`.
  static func systemError(
    _ path: String, _ what: String, _ code: CacheError.Code = .cannotCreate
  ) -> CacheError {
    CacheError(
      errno == ENOSPC || errno == EDQUOT ? .noSpace : code, "\(path) \(what): \(String(cString: strerror(errno)))",
      hint: "check the path and its permissions")
  }
}

/// Creates new stores.
enum SQLiteCreation {
  /// Creates the store, unless another caller does so meanwhile.
  ///
  /// It creates the mark, then the whole store under another name, and then renames it: no other process ever sees half
  /// of it, and a crash leaves either a store or none.
  static func createStore(_ options: SQLiteOptions) throws(CacheError) {
    if try hasStore(options.path) { return }
    let folder = SQLiteFiles.folder(of: options.path)
    try SQLiteFiles.createFolder(folder)
    try SQLiteFiles.withLock(onFolder: folder, timeout: options.busyTimeout) { () throws(CacheError) in
      if try hasStore(options.path) { return }
      do throws(CacheError) {
        try create(options, in: folder)
      } catch {
        if error.code == .noSpace || error.code == .cannotCreate { throw error }
        let message = "\(options.path) cannot be made: \(error.message)"
        throw CacheError(.cannotCreate, message, hint: error.hint, cause: error)
      }
    }
  }

  /// - Throws: `CacheError`: the errors of `sizeOfStore(at:)`; `damaged` if the file is smaller than any database, which
  ///   SQLite would treat as a new one.
  private static func hasStore(_ path: String) throws(CacheError) -> Bool {
    guard let size = try SQLiteFiles.sizeOfStore(at: path) else { return false }
    guard size >= SQLiteFiles.smallestPage else {
      throw CacheError(
        .damaged, "\(path) is too short to be a store: it has been cut off")
    }
    return true
  }

  private static func create(_ options: SQLiteOptions, in folder: String) throws(CacheError) {
    let draft = options.path + SQLiteFiles.draft
    let mark = StoreMark(ofFile: options.path)
    let wasMarked = mark.isPresent
    // Without a mark, files with the names of our own are someone else's.
    for file in wasMarked ? [] : [draft] + SQLiteFiles.companions.map({ options.path + $0 })
    where SQLiteFiles.exists(file) {
      throw .notAStore(file, "it has the name of a file that the store needs")
    }
    do throws(CacheError) {
      try mark.create()
      for suffix in SQLiteFiles.companions { SQLiteFiles.remove(draft + suffix) }
      try SQLiteFiles.createFile(draft)
      try writeSchema(to: draft)
      if options.durability != .relaxed { try SQLiteFiles.synchronize(draft) }
      // The log of a database that was removed without it must not become the new database's log.
      for suffix in SQLiteFiles.companions { SQLiteFiles.remove(options.path + suffix) }
      try SQLiteFiles.rename(draft, to: options.path)
    } catch {
      // An empty file that is still there must not become a damaged store: the draft without the mark would be someone
      // else's, and the mark without the draft would belong to a store that was cut off.
      if !wasMarked || SQLiteFiles.exists(options.path) {
        for suffix in [""] + SQLiteFiles.companions { SQLiteFiles.remove(draft + suffix) }
        mark.remove()
      }
      throw error
    }
    if options.durability == .full { try SQLiteFiles.synchronize(folder) }
  }

  /// No one else knows of the draft, so it needs no journal, and waits for the disk only once, at the end.
  private static func writeSchema(to draft: String) throws(CacheError) {
    let connection = try SQLiteConnection(path: draft, flags: SQLITE_OPEN_READWRITE, busyTimeout: 0)
    try connection.execute(
      "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; BEGIN; \(SQLiteSchema.creation) COMMIT")
    try connection.execute("PRAGMA journal_mode = WAL")
  }
}

/// Removes stores or moves them aside, whatever their state. It writes no data, so it works on a full disk.
enum SQLiteRemoval {
  /// Removes the database and the files next to it. With a suffix they get names with it first.
  ///
  /// - Returns: the new paths of the files, the database first; empty without a suffix or a store.
  static func run(_ options: SQLiteOptions, movingAside suffix: String?) throws(CacheError) -> [String] {
    let path = options.path
    guard try SQLiteFiles.sizeOfStore(at: path) != nil else { return [] }
    let folder = SQLiteFiles.folder(of: path)
    return try SQLiteFiles.withLock(onFolder: folder, timeout: options.busyTimeout) { () throws(CacheError) in
      guard try SQLiteFiles.sizeOfStore(at: path) != nil else { return [] }
      let file = try SQLiteFiles.locked(path, timeout: options.busyTimeout)
      defer { withExtendedLifetime(file) {} }
      try SQLiteHeader(of: file).requireRemovable(path)
      let moved = if let suffix { try addNames(suffix, to: path, in: folder) } else { [String]() }
      // The database goes first: if a log is left without one, creating the next store removes it.
      for suffix in [""] + SQLiteFiles.companions { try SQLiteFiles.removeIfPresent(path + suffix) }
      StoreMark(ofFile: path).remove()
      // An empty file is an empty store. A link that leads nowhere is refused.
      if options.isLinked { try? SQLiteFiles.createFile(path) }
      return moved
    }
  }

  /// Gives the store's files second names that match as the first ones do. So a crash before the first names are removed
  /// leaves the store with its log.
  private static func addNames(
    _ suffix: String, to path: String, in folder: String
  ) throws(CacheError) -> [String] {
    func names(_ path: String) -> [String] {
      [path] + SQLiteFiles.companions.map { path + $0 } + [StoreMark(ofFile: path).path]
    }
    var number = 1
    var target = path + suffix
    while names(target).contains(where: SQLiteFiles.exists) {
      number += 1
      target = "\(path)\(suffix)-\(number)"
    }
    let hasMark = StoreMark(ofFile: path).isPresent
    let pairs = zip(names(path), names(target)).dropLast(hasMark ? 0 : 1).filter { SQLiteFiles.exists($0.0) }
    do throws(CacheError) {
      for (name, new) in pairs { try SQLiteFiles.link(name, as: new) }
      try SQLiteFiles.synchronize(folder)
    } catch {
      for (name, new) in pairs where SQLiteFiles.exists(name) { SQLiteFiles.remove(new) }
      throw error
    }
    return pairs.map(\.1)
  }
}
