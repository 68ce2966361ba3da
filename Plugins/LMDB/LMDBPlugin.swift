internal import CLMDB
internal import EngineSupport
internal import Platform
public import StorageSPI

/// Keeps entries in an LMDB environment: one memory-mapped B+ tree per namespace, read without copying.
///
/// The store is a folder that any number of processes can use at once. The README describes its layout.
public struct LMDBPlugin: StoragePlugin {
  /// The engine's name, capabilities and options. The version is that of the LMDB library.
  public let declaration: EngineDeclaration

  /// Creates the plugin.
  public init() {
    var (major, minor, patch): (Int32, Int32, Int32) = (0, 0, 0)
    _ = mdb_version(&major, &minor, &patch)
    declaration = EngineDeclaration(
      name: "lmdb", version: "\(major).\(minor).\(patch)",
      summary: "a memory-mapped B+ tree, the fastest to read, shared by processes",
      capabilities: [.persistent, .shared, .atomicBatches], options: LMDBOptions.all)
  }

  /// Opens the store, and creates it first if there is none.
  ///
  /// Handles on one store within a process share one environment, as LMDB requires. Cost: about a tenth of a
  /// millisecond, plus the check of the tree's pages (see the README).
  ///
  /// - Throws: `CacheError`: `cannotCreate` if no store can be created, or the folder belongs to someone else; `damaged`,
  ///   `unsupportedFormat`, `permissionDenied`, `noSpace`, `busy`, `ioFailed`.
  public func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
    let options = try LMDBOptions(configuration)
    let use = try LMDBRegistry.shared.environment(at: options.path, mapSize: options.mapSize)
    return LMDBEngine(use, durability: options.durability, clock: configuration.clock)
  }

  /// Inspects the store's files, and reads the format from the data file without LMDB.
  ///
  /// - Throws: `CacheError`: `cannotCreate` if the folder belongs to someone else, `permissionDenied`, `ioFailed`.
  public func inspect(_ configuration: EngineConfiguration) async throws(CacheError) -> StoreInspection {
    let path = try LMDBOptions(configuration).path
    try LMDBOwnership.requireOwn(path)
    let files = [LMDBFile.data(in: path), LMDBFile.lock(in: path)].filter { LMDBFile.status($0) != nil }
    let format = try LMDBDataFile(readingIfPresentIn: path)?.format
    return StoreInspection(
      path: path, files: files, format: format, currentFormat: Int(LMDBSummary.currentFormat))
  }

  /// Removes the data file, whatever it contains, unless a process has the store open.
  ///
  /// - Throws: `CacheError`: `busy` if a process has the store open, `cannotCreate` if the folder belongs to someone else,
  ///   `unsupportedFormat` if the store is of a later version, `permissionDenied`, `ioFailed`.
  public func removeStore(
    _ configuration: EngineConfiguration, movingAside suffix: String?
  ) async throws(CacheError) -> [String] {
    guard suffix == nil else { throw .cannotMoveAside(declaration.name) }
    let path = try LMDBOptions(configuration).path
    try await BlockingExecutor().run { () throws(CacheError) in
      try LMDBRegistry.shared.whileClosed(at: path) { () throws(CacheError) in try LMDBRemoval.run(path) }
    }
    return []
  }
}

/// The options of the LMDB engine.
struct LMDBOptions {
  /// The store's folder.
  let path: String
  /// The initial size of the memory map, in bytes.
  let mapSize: Int
  let durability: Durability

  static let all: [EngineOption] = [
    EngineOption("path", .path, default: .text("lmdb"), help: "the folder that holds the store"),
    EngineOption(
      "mapSize", .size(1_048_576...70_368_744_177_664), default: .integer(67_108_864),
      help: "the size of the memory map to begin with; it grows by itself"),
    .durability,
  ]

  init(_ configuration: EngineConfiguration) throws(CacheError) {
    path = try configuration.text("path")
    mapSize = Int(try configuration.integer("mapSize"))
    durability = try configuration.durability()
  }
}

/// Removes stores, whatever their state. It writes nothing, so it works on a full disk.
enum LMDBRemoval {
  /// Removes the data file of the store in the folder `path` and its record; the lock file stays, emptied. No environment
  /// of the store may be open in this process.
  static func run(_ path: String) throws(CacheError) {
    try LMDBOwnership.requireOwn(path)
    let data = LMDBFile.data(in: path)
    guard LMDBFile.status(data) != nil else { return }
    let lock = try LMDBExclusiveLock(path)
    // A folder, or a file that cannot be mapped, is not a store of a later version.
    if let file = try? LMDBDataFile(readingIfPresentIn: path) { try LMDBSalvage(file).requireKnownFormat(path) }
    // The next process creates a new store, and must not mistake these locks for that store's.
    guard ftruncate(lock.descriptor, 0) == 0 else { throw .lmdb(errno, "empty", path: path) }
    unlink(LMDBFile.record(in: path))
    guard unlink(data) != 0, errno != ENOENT else { return }
    guard errno == EISDIR || errno == EPERM else { throw .lmdb(errno, "remove", path: path) }
    guard rmdir(data) == 0 else {
      throw CacheError(.ioFailed, "\(data) is a folder with something in it", hint: "move it away")
    }
  }
}

extension StorageLocation {
  /// The store in the folder `path`, with what commits survive by `durability`.
  public static func lmdb(path: String, durability: Durability = .normal) -> StorageLocation {
    StorageLocation(LMDBPlugin(), ["path": .text(path), EngineOption.durability.name: .text(durability.rawValue)])
  }
}
