internal import CLMDB
internal import EngineSupport
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
  /// millisecond.
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
    let format = try LMDBDataFile(in: path)?.format
    // The lock file stays when the store is removed.
    let exists = files.first == LMDBFile.data(in: path)
    return StoreInspection(
      path: path, exists: exists, files: files, format: format, currentFormat: LMDBSummary.format)
  }

  /// Removes the data file, whatever it contains, or moves it aside with the mark of the store, unless a process has the
  /// store open.
  ///
  /// - Throws: `CacheError`: `busy` if a process has the store open, `cannotCreate` if the folder belongs to someone else,
  ///   `unsupportedFormat` if the store is of a later version, `permissionDenied`, `ioFailed`.
  public func removeStore(
    _ configuration: EngineConfiguration, movingAside suffix: String?
  ) async throws(CacheError) -> [String] {
    let path = try LMDBOptions(configuration).path
    return try await BlockingExecutor().run { () throws(CacheError) in
      try LMDBRegistry.shared.removeStore(at: path, movingAside: suffix)
    }
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

extension StorageLocation {
  /// The store in the folder `path`, with what commits survive by `durability`.
  public static func lmdb(path: String, durability: Durability = .normal) -> StorageLocation {
    StorageLocation(LMDBPlugin(), ["path": .text(path), EngineOption.durability.name: .text(durability.rawValue)])
  }
}
