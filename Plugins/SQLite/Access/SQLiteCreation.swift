internal import CSQLite
internal import EngineSupport
internal import StorageSPI

/// Creates new stores.
enum SQLiteCreation {
  /// Creates the store, unless another caller does so meanwhile.
  ///
  /// It creates the mark, then the whole store under another name, and then renames it: no other process ever sees half
  /// of it, and a crash leaves either a store or none.
  static func createStore(_ options: SQLiteOptions) throws(CacheError) {
    let folder = SQLiteFiles.folder(of: options.path)
    try SQLiteFiles.createFolder(folder)
    try SQLiteFiles.withLock(onFolder: folder, timeout: options.busyTimeout) { () throws(CacheError) in
      guard try !SQLiteFiles.storeExists(at: options.path) else { return }
      do throws(CacheError) {
        try create(options, in: folder)
      } catch {
        throw [.noSpace, .cannotCreate].contains(error.code) ? error : cannotCreate(options.path, error)
      }
    }
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
      try createDraft(draft)
      try put(draft, inPlaceFor: options)
    } catch {
      // An empty file that is still there must not become a damaged store: the draft without the mark would be someone
      // else's, and the mark without the draft that of a store that was cut off.
      if !wasMarked || SQLiteFiles.exists(options.path) {
        for suffix in [""] + SQLiteFiles.companions { SQLiteFiles.remove(draft + suffix) }
        mark.remove()
      }
      throw error
    }
    if options.durability == .full { try SQLiteFiles.synchronize(folder) }
  }

  private static func put(_ draft: String, inPlaceFor options: SQLiteOptions) throws(CacheError) {
    if options.durability != .relaxed { try SQLiteFiles.synchronize(draft) }
    // A log left over from a database that was removed without it must not become the new database's log. It may hold
    // commits that exist nowhere else, so it is set aside.
    let log = options.path + "-wal"
    if SQLiteFiles.size(of: log) > 0 { try SQLiteFiles.rename(log, to: log + SQLiteFiles.orphaned) }
    for suffix in SQLiteFiles.companions { SQLiteFiles.remove(options.path + suffix) }
    try SQLiteFiles.rename(draft, to: options.path)
  }

  /// Creates an empty store at `draft`, which no one else uses.
  static func createDraft(_ draft: String) throws(CacheError) {
    for suffix in SQLiteFiles.companions { SQLiteFiles.remove(draft + suffix) }
    try SQLiteFiles.createFile(draft)
    try writeSchema(to: draft)
  }

  /// No one else knows of the draft, so it needs no journal, and waits for the disk only once, at the end.
  private static func writeSchema(to draft: String) throws(CacheError) {
    let connection = try SQLiteConnection(path: draft, flags: SQLITE_OPEN_READWRITE, busyTimeout: 0)
    try connection.execute(
      "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; BEGIN; \(SQLiteSchema.creation) COMMIT")
    try connection.execute("PRAGMA journal_mode = WAL")
  }

  private static func cannotCreate(_ path: String, _ error: CacheError) -> CacheError {
    CacheError(.cannotCreate, "\(path) cannot be made: \(error.message)", hint: error.hint, cause: error)
  }
}

extension SQLiteFiles {
  /// The suffixes of the files beside a database.
  static let companions = ["-wal", "-shm", "-journal"]

  /// The suffix of a new store until it is complete.
  static let draft = "-new"

  /// The suffix for a log that is set aside because its database is gone.
  static let orphaned = ".orphaned"

  /// The size of the database at `path`, including the files beside it.
  static func storeSize(at path: String) -> Int {
    companions.reduce(size(of: path)) { $0 + size(of: path + $1) }
  }
}
