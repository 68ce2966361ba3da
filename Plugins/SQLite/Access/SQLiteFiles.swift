internal import CSQLite
internal import EngineSupport
internal import Platform
internal import StorageSPI

/// The file operations around the database that SQLite does not offer.
///
/// None of them opens the database file itself: closing such a descriptor would drop every lock that this process has
/// on the file (a property of POSIX locks).
enum SQLiteFiles {
  /// The size of the smallest page, and therefore of the smallest database, in bytes.
  static let smallestPage = 512

  /// Whether there is a store at `path`, which may be damaged.
  ///
  /// - Throws: `CacheError`: those of `sizeOfStore(at:)`; `damaged` if the file is smaller than any database: SQLite would
  ///   treat it as a new one.
  static func storeExists(at path: String) throws(CacheError) -> Bool {
    guard let size = try sizeOfStore(at: path) else { return false }
    guard size >= smallestPage else {
      throw CacheError(
        .damaged, "\(path) is too short to be a store: it has been cut off", hint: "remove the store and start again")
    }
    return true
  }

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
      try SQLiteMarks.requireOwn(path)
      return size
    }
  }

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

  /// Gives the file at `path` a second name.
  static func link(_ path: String, as target: String) throws(CacheError) {
    let result = Platform.link(path, target)
    guard result == 0 else { throw systemError(target, "cannot be made", .ioFailed) }
  }

  /// Calls `body` with a function that appends to the file at `path`, then waits until everything is on disk.
  static func write(
    to path: String, _ body: (([UInt8]) throws(CacheError) -> Void) throws(CacheError) -> Void
  ) throws(CacheError) {
    let descriptor = open(path, O_WRONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw systemError(path, "cannot be opened", .ioFailed) }
    defer { close(descriptor) }
    var offset: off_t = 0
    try body { bytes throws(CacheError) in
      guard pwrite(descriptor, bytes, bytes.count, offset) == bytes.count else {
        throw systemError(path, "cannot be written", .ioFailed)
      }
      offset += off_t(bytes.count)
    }
    guard fsync(descriptor) == 0 else { throw systemError(path, "cannot be written", .ioFailed) }
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
  static func withLock(
    onFolder folder: String, timeout: Int32, _ body: () throws(CacheError) -> Void
  ) throws(CacheError) {
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
    try body()
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
