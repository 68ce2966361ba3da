internal import CSQLite
public import EngineAPI

/// Keeps entries in one SQLite database: a real table that any SQLite tool can query.
///
/// Several processes can use one store at once. Readers and a writer do not wait for each other; writers wait for one
/// another, for up to the option `busyTimeout`.
public struct SQLitePlugin: StoragePlugin {
  /// The engine's name, capabilities and options. The version is that of the SQLite library in use.
  public let declaration = EngineDeclaration(
    name: "sqlite", version: String(cString: sqlite3_libversion()),
    summary: "one SQLite database with a table that any SQLite tool can query",
    capabilities: [.persistent, .shared, .ordered, .bounded, .atomicBatches, .countsChanges], options: SQLiteOptions.all
  )

  /// Creates the plugin.
  public init() {}

  /// Opens the database, and creates it first if there is none. Opening an existing one costs about 0.1 ms.
  ///
  /// A store on a read-only medium can be opened and read; only writes to it fail.
  ///
  /// - Throws: `CacheError`: `cannotCreate` if there is no database and none can be created, or the file belongs to
  ///   someone else; `unsupportedFormat` if it is of another version; `damaged`, `permissionDenied`, `busy`.
  public func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
    let options = try SQLiteOptions(configuration)
    // A file too short to be a store might be one that another process creates just now: creation looks under its lock.
    if SQLiteFiles.size(of: options.path) < SQLiteFiles.smallestPage {
      try await BlockingExecutor().run { () throws(CacheError) in try SQLiteFiles.createStore(options) }
    }
    return try SQLiteEngine(options, clock: configuration.clock)
  }

  /// Inspects the header of the file without opening the store.
  ///
  /// - Throws: `CacheError`: `cannotCreate` if the file belongs to someone else, `permissionDenied`, `ioFailed`.
  public func inspect(_ configuration: EngineConfiguration) async throws(CacheError) -> StoreInspection {
    let path = try SQLiteOptions(configuration).path
    let exists = try SQLiteFiles.sizeOfStore(at: path) != nil
    let files = exists ? ([""] + SQLiteFiles.companions).map { path + $0 }.filter(StoreFiles().isTaken) : []
    let format = exists ? try SQLiteHeader(at: path).format : nil
    return StoreInspection(path: path, files: files, format: format, currentFormat: Int(SQLiteSchema.version))
  }

  /// Removes the database, its log and its mark, or moves them aside, unless another connection has it open. A link to it
  /// stays, and leads to an empty file.
  ///
  /// - Throws: `CacheError`: `busy` if another connection has it open, `cannotCreate` if the file belongs to someone else,
  ///   `unsupportedFormat` if it is of another version, `permissionDenied`, `ioFailed`.
  public func removeStore(
    _ configuration: EngineConfiguration, movingAside suffix: String?
  ) async throws(CacheError) -> [String] {
    let options = try SQLiteOptions(configuration)
    return try await BlockingExecutor().run { () throws(CacheError) in
      try SQLiteFiles.removeStore(options, movingAside: suffix)
    }
  }
}

/// The options of the SQLite engine: their declarations and their values.
struct SQLiteOptions: Sendable {
  static let path = EngineOption(
    "path", .path, default: .text("cache.sqlite"), help: "the database file; its log is next to it")

  static let all: [EngineOption] = [path, .durability, .busyTimeout]

  /// The path of the database file.
  let path: String
  /// Whether a link led to it.
  let isLinked: Bool
  let durability: Durability
  /// How long to wait for another process, in milliseconds.
  let busyTimeout: Int32
  var patience: Duration { .milliseconds(busyTimeout) }
  /// Whether to read the rest of a file that is shorter than it should be.
  let isForRepair: Bool

  init(_ configuration: EngineConfiguration) throws(CacheError) {
    let path = try configuration.text(Self.path.name)
    // SQLite treats some names specially, but not if a folder precedes them.
    let file = path.hasPrefix("/") ? path : "./" + path
    // SQLite keeps the log next to the target of a link.
    self.path = StorePlace.resolved(file)
    self.isLinked = self.path != file
    self.durability = try configuration.durability()
    self.busyTimeout = Int32(clamping: try configuration.integer(EngineOption.busyTimeout.name))
    self.isForRepair = configuration.isForRepair
  }
}

extension StorageLocation {
  /// The store in the database file `path`, with what commits survive by `durability`.
  public static func sqlite(path: String, durability: Durability = .normal) -> StorageLocation {
    StorageLocation(SQLitePlugin(), ["path": .text(path), EngineOption.durability.name: .text(durability.rawValue)])
  }
}
