internal import CSQLite
internal import EngineSupport
public import StorageSPI

/// Keeps entries in one SQLite database: a real table that any SQLite tool can query.
///
/// Several processes can use one store at once. Readers and a writer do not wait for each other; writers wait for one
/// another, for up to the option `busyTimeout`.
public struct SQLitePlugin: StoragePlugin {
  /// The engine's name, capabilities and options. The version is that of the SQLite library in use.
  public let declaration = EngineDeclaration(
    name: "sqlite", version: String(cString: sqlite3_libversion()),
    summary: "one SQLite database with a table that any SQLite tool can query",
    capabilities: [.persistent, .shared, .atomicBatches], options: SQLiteOptions.all)

  /// Creates the plugin.
  public init() {}

  /// Opens the database, and creates it first if there is none. Opening an existing one costs about 0.1 ms.
  ///
  /// A store on a read-only medium can be opened and read; only writes to it fail.
  ///
  /// - Throws: `CacheError`: `cannotCreate` if there is no database and none can be created, or the file belongs to
  ///   someone else; `unsupportedFormat` if it is of a later version; `damaged`, `permissionDenied`, `busy`.
  public func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
    let options = try SQLiteOptions(configuration)
    // A file too short to be a store may be one that another process creates just now: creation looks under its lock.
    if try SQLiteFiles.sizeOfStore(at: options.path) ?? 0 < SQLiteFiles.smallestPage {
      let maker = BlockingExecutor()
      try await maker.run { () throws(CacheError) in try SQLiteCreation.createStore(options) }
    }
    return try SQLiteEngine(options, clock: configuration.clock)
  }

  /// Inspects the file and its log without opening or changing them. Cost: reading the log.
  ///
  /// SQLite silently ends a damaged log at the first wrong frame, and removes the rest when it closes the store: that
  /// is the hidden damage.
  ///
  /// - Throws: `CacheError`: `cannotCreate` if the file belongs to someone else, `permissionDenied`, `ioFailed`.
  public func inspect(_ configuration: EngineConfiguration) async throws(CacheError) -> StoreInspection {
    try StoreInspection(try SQLiteOptions(configuration))
  }

  /// Removes the database, its log and its mark, unless another connection has it open. A link to it stays, and leads to
  /// an empty file.
  ///
  /// - Throws: `CacheError`: `busy` if another connection has it open, `cannotCreate` if the file belongs to someone else,
  ///   `unsupportedFormat` if it is of a later version, `permissionDenied`, `ioFailed`.
  public func removeStore(
    _ configuration: EngineConfiguration, movingAside suffix: String?
  ) async throws(CacheError) -> [String] {
    guard suffix == nil else { throw .cannotMoveAside(declaration.name) }
    let options = try SQLiteOptions(configuration)
    try await BlockingExecutor().run { () throws(CacheError) in try SQLiteRemoval.run(options) }
    return []
  }
}

/// The options of the SQLite engine: their declarations and their values.
struct SQLiteOptions: Sendable {
  static let path = EngineOption(
    "path", .path, default: .text("cache.sqlite"), help: "the database file; its log lies beside it")

  static let all: [EngineOption] = [path, .durability, .busyTimeout]

  /// The path of the database file.
  let path: String
  /// Whether a link led to it.
  let isLinked: Bool
  let durability: Durability
  /// How long to wait for another process, in milliseconds.
  let busyTimeout: Int32

  init(_ configuration: EngineConfiguration) throws(CacheError) {
    let path = try configuration.text(Self.path.name)
    // SQLite treats some names specially, but not if a folder precedes them.
    let file = path.hasPrefix("/") ? path : "./" + path
    // SQLite keeps the log next to the target of a link.
    self.path = StorePlace.resolved(file)
    self.isLinked = self.path != file
    self.durability = try configuration.durability()
    self.busyTimeout = Int32(clamping: try configuration.integer(EngineOption.busyTimeout.name))
  }

  /// The options of `other` for another file.
  init(path: String, _ other: SQLiteOptions) {
    (self.path, isLinked) = (path, false)
    (durability, busyTimeout) = (other.durability, other.busyTimeout)
  }
}

extension Durability {
  /// The value of `PRAGMA synchronous` that provides the durability in write-ahead mode.
  var synchronous: String {
    switch self {
    case .full: "FULL"
    case .normal: "NORMAL"
    case .relaxed: "OFF"
    }
  }
}

extension StoreInspection {
  /// Inspects the path of `options` without SQLite, which would create a log.
  init(_ options: SQLiteOptions) throws(CacheError) {
    let path = options.path
    let isStore = try SQLiteFiles.sizeOfStore(at: path) != nil
    let files = ([""] + SQLiteFiles.companions).map { path + $0 }.filter(SQLiteFiles.exists)
    let pages = isStore ? try SQLitePages(SQLiteFile(path), log: path + "-wal") : nil
    let damage = if let pages { try SQLiteLogDamage.found(at: path, .certain, in: pages.log) } else { String?.none }
    self.init(
      path: path, files: isStore ? files : [], format: pages.flatMap { SQLiteMarks($0).format },
      currentFormat: Int(SQLiteSchema.version),
      hiddenDamage: damage)
  }
}

/// Removes stores, whatever their state. It writes nothing, so it works on a full disk.
enum SQLiteRemoval {
  /// Removes the database and the files next to it.
  static func run(_ options: SQLiteOptions) throws(CacheError) {
    let path = options.path
    guard try SQLiteFiles.sizeOfStore(at: path) != nil else { return }
    let folder = SQLiteFiles.folder(of: path)
    try SQLiteFiles.withLock(onFolder: folder, timeout: options.busyTimeout) { () throws(CacheError) in
      guard try SQLiteFiles.sizeOfStore(at: path) != nil else { return }
      let file = try SQLiteFile.locked(path, timeout: options.busyTimeout)
      try SQLiteMarks(try SQLitePages(file, log: path + "-wal")).requireStore(path)
      // The database goes first: if a log is left without one, creating the next store removes it.
      for suffix in [""] + SQLiteFiles.companions { try SQLiteFiles.removeIfPresent(path + suffix) }
      StoreMark(ofFile: path).remove()
      // An empty file is an empty store. A link that leads nowhere is refused.
      if options.isLinked { try? SQLiteFiles.createFile(path) }
      withExtendedLifetime(file) {}
    }
  }
}

extension StorageLocation {
  /// The store in the database file `path`, with what commits survive by `durability`.
  public static func sqlite(path: String, durability: Durability = .normal) -> StorageLocation {
    StorageLocation(SQLitePlugin(), ["path": .text(path), EngineOption.durability.name: .text(durability.rawValue)])
  }
}
