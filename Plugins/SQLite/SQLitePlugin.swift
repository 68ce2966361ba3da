internal import CSQLite
public import StorageSPI

/// The engine that keeps entries in one SQLite database: a real table that any SQLite tool can query.
///
/// Several processes may use one store at once. Readers and a writer do not wait for each other; writers wait for one
/// another, up to the option `busyTimeout`.
public struct SQLitePlugin: StoragePlugin {
  /// What the engine is called, can do and can be told. The version is that of the SQLite library in use.
  public let declaration = EngineDeclaration(
    name: "sqlite", version: String(cString: sqlite3_libversion()),
    summary: "one SQLite database with a table that any SQLite tool can query",
    capabilities: [.persistent, .shared, .atomicBatches], options: SQLiteOptions.all)

  /// The plugin.
  public init() {}

  /// Opens the database, and makes it first where there is none. Cost where there is one: about 0.1 ms.
  ///
  /// A store on a read-only medium can be opened and read; only changing it fails.
  ///
  /// - Throws: `StorageError`: `cannotCreate` where there is no database and none can be made, `unsupportedFormat`
  ///   where it is another application's or of another version, `damaged`, `permissionDenied`, `busy`.
  public func open(_ configuration: EngineConfiguration) async throws(StorageError) -> any StorageEngine {
    let options = try SQLiteOptions(configuration)
    if try !SQLiteFiles.storeExists(at: options.path) {
      let maker = BlockingExecutor()
      try await maker.run { () throws(StorageError) in try SQLiteCreation.createStore(options) }
    }
    return try SQLiteEngine(options, clock: configuration.clock)
  }

  /// Looks at the file and its log without opening or changing them. Cost: that of reading the log.
  ///
  /// SQLite ends a damaged log at the first wrong frame without a word, and removes the rest when it closes the store: that
  /// is the hidden damage.
  ///
  /// - Throws: `StorageError`: `permissionDenied`, `ioFailed`.
  public func inspect(_ configuration: EngineConfiguration) async throws(StorageError) -> StoreInspection {
    try StoreInspection(try SQLiteOptions(configuration))
  }

  /// Makes a new database out of every entry that can still be read, and moves the damaged one aside with its log.
  ///
  /// Pages are read without SQLite, so that neither a damaged header nor a damaged tree keeps sound entries from being
  /// saved. Cost: that of reading and writing the whole store.
  ///
  /// - Throws: `StorageError`: `busy` where somebody has the store open, `unsupportedFormat` where the file is a database
  ///   of another application or of a later version, `noSpace`, `ioFailed`, `permissionDenied`.
  public func repair(
    _ configuration: EngineConfiguration, _ plan: RepairPlan
  ) async throws(StorageError) -> RepairReport {
    let options = try SQLiteOptions(configuration)
    let worker = BlockingExecutor()
    return try await worker.run { () throws(StorageError) in try SQLiteRepair(options: options, plan: plan).run() }
  }

  /// Says what a repair would save and lose. Cost: that of reading the whole store, and memory for all keys.
  ///
  /// - Throws: `StorageError`: as `repair`.
  public func previewRepair(
    _ configuration: EngineConfiguration, _ plan: RepairPlan
  ) async throws(StorageError) -> RepairReport {
    let options = try SQLiteOptions(configuration)
    let worker = BlockingExecutor()
    return try await worker.run { () throws(StorageError) in try SQLiteRepair(options: options, plan: plan).preview() }
  }

  /// Removes the database with its log, whatever is in it, while no other connection has it open.
  ///
  /// - Throws: `StorageError`: `busy` where one has, `unsupportedFormat` where the file is a database of another
  ///   application or of a later version, `permissionDenied`, `ioFailed`.
  public func removeStore(_ configuration: EngineConfiguration) async throws(StorageError) {
    let options = try SQLiteOptions(configuration)
    try await BlockingExecutor().run { () throws(StorageError) in try SQLiteRemoval.run(options) }
  }
}
