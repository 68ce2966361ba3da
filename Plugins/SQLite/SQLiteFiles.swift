internal import CSQLite
internal import EngineAPI
internal import CacheBase

/// The file operations around the database that SQLite does not offer.
///
/// None of them opens the database file itself: closing such a descriptor would drop every lock that this process has
/// on the file (a property of POSIX locks).
enum SQLiteFiles {
  private static let files = StoreFiles()

  /// The suffixes of the files next to a database.
  static let companions = ["-wal", "-shm", "-journal"]

  /// The suffix of a new store until it is complete.
  static let draft = "-new"

  /// The size of the smallest page, and therefore of the smallest database, in bytes.
  static let smallestPage = 512

  /// The size of the store's file in bytes, whatever its state; `nil` if there is no store: nothing, or an empty file
  /// without a mark or with the draft of a creation that was interrupted, or continues.
  ///
  /// - Throws: `CacheError`: `cannotCreate` if the file belongs to someone else, or a link leads nowhere;
  ///   `permissionDenied`, `ioFailed`.
  static func sizeOfStore(at path: String) throws(CacheError) -> Int? {
    switch try StorePlace(path) {
    case .nothing: return nil
    case .folder, .other: throw .notAStore(path, "it is not a regular file")
    case .file(size: 0): return StoreMark(ofFile: path).isPresent && !files.isTaken(path + draft) ? 0 : nil
    case .file(let size):
      try SQLiteHeader(at: path).requireOwn(path)
      return size
    }
  }

  /// The size of the database at `path`, including the files next to it.
  static func storeSize(at path: String) -> Int { companions.reduce(size(of: path)) { $0 + size(of: path + $1) } }

  /// The size of the file at `path`; 0 if there is none, or none that can be reached.
  static func size(of path: String) -> Int {
    guard let status = try? files.status(of: path), status.isRegular else { return 0 }
    return status.size
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
      try files.makeDirectory(folder)
      try files.withLock(on: folder, within: options.patience) { _ throws(CacheError) in
        if try !hasStore(path) { try create(options, in: folder) }
      }
    } catch {
      throw error.preventing(storeAt: path)
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
    if !wasMarked, let file = ([draft] + leftovers).first(where: files.isTaken) {
      throw .notAStore(file, "it has the name of a file that the store needs")
    }
    let drafts = [draft] + companions.map { draft + $0 }
    do throws(CacheError) {
      try mark.create()
      for file in drafts { try files.remove(file) }
      try files.write([], to: draft, createFlags)
      try writeSchema(to: draft)
      if options.durability != .relaxed { try files.synchronize(draft) }
      // The log of a database that was removed without it must not become the new database's log.
      for file in leftovers { try files.remove(file) }
      try files.rename(draft, to: options.path)
    } catch {
      // An empty file that is still there must not become a damaged store: the draft without the mark would be someone
      // else's, and the mark without the draft would belong to a store that was cut off.
      if !wasMarked || files.isTaken(options.path) {
        for file in drafts { unlink(file) }
        mark.remove()
      }
      throw error
    }
    if options.durability == .full { try files.synchronize(folder) }
  }

  /// No one else knows of the draft, so it needs no journal, and waits for the disk only once, at the end.
  private static func writeSchema(to draft: String) throws(CacheError) {
    let connection = try SQLiteConnection(path: draft, flags: SQLITE_OPEN_READWRITE, busyTimeout: 0)
    try connection.execute(
      "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; BEGIN; \(SQLiteSchema.creation) COMMIT")
    try connection.execute("PRAGMA journal_mode = WAL")
  }

  /// A new file is empty, and only the user can access it.
  private static let createFlags = O_WRONLY | O_CREAT | O_EXCL

  /// Removes the database and the files next to it, whatever its state, or moves them aside. It writes no data, so it
  /// works on a full disk.
  ///
  /// - Returns: the new paths of the files, the database first; empty without a suffix or a store.
  static func removeStore(_ options: SQLiteOptions, movingAside suffix: String?) throws(CacheError) -> [String] {
    let path = options.path
    guard try sizeOfStore(at: path) != nil else { return [] }
    return try files.withLock(on: folder(of: path), within: options.patience) { _ throws(CacheError) in
      guard try sizeOfStore(at: path) != nil else { return [] }
      // Locked against all other connections until it is released, whatever the file contains.
      let file = try SQLiteConnection(path: path, flags: SQLITE_OPEN_READWRITE, busyTimeout: 0)
      defer { withExtendedLifetime(file) {} }
      let hint = "another process holds the store: try again, or raise option 'busyTimeout' of backend sqlite"
      let code = try files.wait(for: path, within: options.patience, hint: hint) { _ in
        let code = csqlite_lock_file(file.handle)
        return code & 0xFF == SQLITE_BUSY ? nil : code
      }
      try file.check(code)
      try SQLiteHeader(of: file).requireRemovable(path)
      let moved = if let suffix { try moveAside(path, suffix) } else { [String]() }
      // The database is removed first: if a log is left without one, creating the next store removes it.
      for suffix in [""] + companions { try files.remove(path + suffix) }
      StoreMark(ofFile: path).remove()
      // An empty file is an empty store. A link that leads nowhere is refused.
      if options.isLinked { _ = try? files.write([], to: path, createFlags) }
      return moved
    }
  }

  /// Gives the store's files new names that belong together as the present ones do. The log is renamed before the database:
  /// a crash in between leaves a store without its last commits, and their log under its new name. The mark is renamed
  /// last, because a damaged database might have no other.
  private static func moveAside(_ path: String, _ suffix: String) throws(CacheError) -> [String] {
    let endings = companions + ["", ".uses"]
    let target = files.freeName(path + suffix, endings: endings)
    let hasMark = StoreMark(ofFile: path).isPresent
    let present = endings.filter { $0 == ".uses" ? hasMark : files.isTaken(path + $0) }
    for ending in present { try files.rename(path + ending, to: target + ending) }
    return present.map { target + $0 }.sorted()
  }
}
