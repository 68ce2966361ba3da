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

  /// Creates the store, unless another caller does so meanwhile.
  ///
  /// It creates the mark, then the whole store under another name, and then renames it: no other process ever sees half
  /// of it, and a crash leaves either a store or none.
  static func createStore(_ options: SQLiteOptions) throws(CacheError) {
    let path = options.path
    if try hasStore(path) { return }
    do throws(CacheError) {
      let folder = folder(of: path)
      for index in folder.indices.dropFirst() where folder[index] == "/" { mkdir(String(folder[..<index]), 0o700) }
      guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw .system("cannot create", folder, creating: true) }
      try withLock(onFolder: folder, timeout: options.busyTimeout) { () throws(CacheError) in
        if try !hasStore(path) { try create(options, in: folder) }
      }
    } catch {
      guard error.code == .permissionDenied || error.code == .ioFailed else { throw error }
      throw CacheError(
        .cannotCreate, "\(path) cannot be made: \(error.message)", hint: error.hint, cause: error)
    }
  }

  /// - Throws: `CacheError`: the errors of `sizeOfStore(at:)`; `damaged` if the file is smaller than any database, which
  ///   SQLite would treat as a new one.
  private static func hasStore(_ path: String) throws(CacheError) -> Bool {
    guard let size = try sizeOfStore(at: path) else { return false }
    guard size >= smallestPage else {
      throw CacheError(.damaged, "\(path) is too short to be a store: it has been cut off")
    }
    return true
  }

  private static func create(_ options: SQLiteOptions, in folder: String) throws(CacheError) {
    let draft = options.path + draft
    let mark = StoreMark(ofFile: options.path)
    let wasMarked = mark.isPresent
    let leftovers = companions.map { options.path + $0 }
    // Without a mark, files with the names of our own are someone else's.
    if !wasMarked, let file = ([draft] + leftovers).first(where: exists) {
      throw .notAStore(file, "it has the name of a file that the store needs")
    }
    let drafts = [draft] + companions.map { draft + $0 }
    do throws(CacheError) {
      try mark.create()
      for file in drafts { unlink(file) }
      try createFile(draft)
      try writeSchema(to: draft)
      if options.durability != .relaxed { try synchronize(draft) }
      // The log of a database that was removed without it must not become the new database's log.
      for file in leftovers { unlink(file) }
      guard rename(draft, options.path) == 0 else { throw .system("cannot create", options.path, creating: true) }
    } catch {
      // An empty file that is still there must not become a damaged store: the draft without the mark would be someone
      // else's, and the mark without the draft would belong to a store that was cut off.
      if !wasMarked || exists(options.path) {
        for file in drafts { unlink(file) }
        mark.remove()
      }
      throw error
    }
    if options.durability == .full { try synchronize(folder) }
  }

  /// No one else knows of the draft, so it needs no journal, and waits for the disk only once, at the end.
  private static func writeSchema(to draft: String) throws(CacheError) {
    let connection = try SQLiteConnection(path: draft, flags: SQLITE_OPEN_READWRITE, busyTimeout: 0)
    try connection.execute(
      "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; BEGIN; \(SQLiteSchema.creation) COMMIT")
    try connection.execute("PRAGMA journal_mode = WAL")
  }

  /// Creates an empty file that only the user can access.
  private static func createFile(_ path: String) throws(CacheError) {
    let descriptor = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .system("cannot create", path, creating: true) }
    close(descriptor)
  }

  /// Waits until everything written to the file or folder at `path` is on disk.
  private static func synchronize(_ path: String) throws(CacheError) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system("cannot open", path, creating: false) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw .system("cannot write", path, creating: false) }
  }

  /// Removes the database and the files next to it, whatever its state, or moves them aside. It writes no data, so it
  /// works on a full disk.
  ///
  /// - Returns: the new paths of the files, the database first; empty without a suffix or a store.
  static func removeStore(_ options: SQLiteOptions, movingAside suffix: String?) throws(CacheError) -> [String] {
    let path = options.path
    guard try sizeOfStore(at: path) != nil else { return [] }
    let folder = folder(of: path)
    return try withLock(onFolder: folder, timeout: options.busyTimeout) { () throws(CacheError) in
      guard try sizeOfStore(at: path) != nil else { return [] }
      // Locked against all other connections until it is released, whatever the file contains.
      let file = try SQLiteConnection(path: path, flags: SQLITE_OPEN_READWRITE, busyTimeout: 0)
      defer { withExtendedLifetime(file) {} }
      try retry(for: options.busyTimeout, at: path) { csqlite_lock_file(file.handle) }
      try SQLiteHeader(of: file).requireRemovable(path)
      let moved = if let suffix { try moveAside(path, suffix) } else { [String]() }
      // The database is removed first: if a log is left without one, creating the next store removes it.
      for suffix in [""] + companions where unlink(path + suffix) != 0 && errno != ENOENT {
        throw .system("cannot remove", path + suffix, creating: false)
      }
      StoreMark(ofFile: path).remove()
      // An empty file is an empty store. A link that leads nowhere is refused.
      if options.isLinked { try? createFile(path) }
      return moved
    }
  }

  /// Gives the store's files new names that belong together as the present ones do. The log is renamed before the database:
  /// a crash in between leaves a store without its last commits, and their log under its new name. The mark is renamed
  /// last, because a damaged database may have no other.
  private static func moveAside(_ path: String, _ suffix: String) throws(CacheError) -> [String] {
    let endings = companions + ["", ".uses"]
    var number = 1
    var target = path + suffix
    while endings.contains(where: { exists(target + $0) }) {
      number += 1
      target = "\(path)\(suffix)-\(number)"
    }
    let hasMark = StoreMark(ofFile: path).isPresent
    let present = endings.filter { $0 == ".uses" ? hasMark : exists(path + $0) }
    for ending in present where rename(path + ending, target + ending) != 0 {
      throw .system("cannot rename", path + ending, creating: false)
    }
    return present.map { target + $0 }.sorted()
  }

  /// Calls `body` while holding the folder's lock, which excludes all other callers of this function in every process.
  ///
  /// - Parameter timeout: how long to wait for the lock, in milliseconds.
  private static func withLock<Output>(
    onFolder folder: String, timeout: Int32, _ body: () throws(CacheError) -> Output
  ) throws(CacheError) -> Output {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system("cannot open", folder, creating: false) }
    defer {
      // A process that is being started has the descriptor too, and with it the lock, until it runs its program.
      flock(descriptor, LOCK_UN)
      close(descriptor)
    }
    try retry(for: timeout, at: folder) {
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return SQLITE_OK }
      return errno == EWOULDBLOCK || errno == EINTR ? SQLITE_BUSY : SQLITE_IOERR
    }
    return try body()
  }

  /// Calls `lock` until it does not return that the file or folder at `path` is busy, for up to `timeout` milliseconds.
  private static func retry(for timeout: Int32, at path: String, _ lock: () -> Int32) throws(CacheError) {
    var code = lock()
    var waited: Int32 = 0
    while code & 0xFF == SQLITE_BUSY, waited < timeout {
      usleep(1_000)
      waited += 1
      code = lock()
    }
    guard code == SQLITE_OK else {
      throw CacheError(sqlite: code, message: "it is open elsewhere, or cannot be locked", path: path)
    }
  }
}
