internal import CSQLite
internal import StorageSPI

/// Makes new stores.
enum SQLiteCreation {
  /// Makes the store, unless another caller makes it meanwhile.
  ///
  /// It is made whole under another name and then renamed: nobody ever sees half of it, and a crash leaves either a
  /// store or none.
  static func createStore(_ options: SQLiteOptions) throws(StorageError) {
    let folder = SQLiteFiles.folder(of: options.path)
    try SQLiteFiles.createFolder(folder)
    try SQLiteFiles.withLock(onFolder: folder, timeout: options.busyTimeout) { () throws(StorageError) in
      guard try !SQLiteFiles.storeExists(at: options.path) else { return }
      do throws(StorageError) {
        try create(options, in: folder)
      } catch {
        throw [.noSpace, .cannotCreate].contains(error.code) ? error : cannotCreate(options.path, error)
      }
    }
  }

  private static func create(_ options: SQLiteOptions, in folder: String) throws(StorageError) {
    let draft = options.path + "-new"
    try createDraft(draft)
    if options.durability != .relaxed { try SQLiteFiles.synchronize(draft) }
    // What is left of a database that was removed without its log must not be taken for the new one's. The log may hold
    // commits that are nowhere else.
    let log = options.path + "-wal"
    if SQLiteFiles.size(of: log) > 0 { try SQLiteFiles.rename(log, to: log + SQLiteFiles.orphaned) }
    for suffix in SQLiteFiles.companions { SQLiteFiles.remove(options.path + suffix) }
    try SQLiteFiles.rename(draft, to: options.path)
    if options.durability == .full { try SQLiteFiles.synchronize(folder) }
  }

  /// Makes an empty store at `draft`, which nobody else uses.
  static func createDraft(_ draft: String) throws(StorageError) {
    for suffix in SQLiteFiles.companions { SQLiteFiles.remove(draft + suffix) }
    try SQLiteFiles.createFile(draft)
    try writeSchema(to: draft)
  }

  /// Nobody else knows of the draft, so it needs no journal, and one wait for the disk at the end.
  private static func writeSchema(to draft: String) throws(StorageError) {
    let connection = try SQLiteConnection(path: draft, flags: SQLITE_OPEN_READWRITE, busyTimeout: 0)
    try connection.execute(
      "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; BEGIN; \(SQLiteSchema.creation) COMMIT")
    try connection.execute("PRAGMA journal_mode = WAL")
  }

  private static func cannotCreate(_ path: String, _ error: StorageError) -> StorageError {
    StorageError(.cannotCreate, "\(path) cannot be made: \(error.message)", hint: error.hint, cause: error)
  }
}

extension SQLiteFiles {
  /// What the names of the files beside a database end with.
  static let companions = ["-wal", "-shm", "-journal"]

  /// What is added to the name of a log that is set aside, because its database is gone.
  static let orphaned = ".orphaned"

  /// The size of the database at `path` with the files beside it.
  static func storeSize(at path: String) -> Int {
    companions.reduce(size(of: path)) { $0 + size(of: path + $1) }
  }
}
