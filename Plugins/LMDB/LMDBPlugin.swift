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
  /// millisecond, plus the check of the tree's pages (see the README).
  ///
  /// - Throws: `CacheError`: `cannotCreate`, `damaged`, `unsupportedFormat`, `permissionDenied`, `noSpace`, `busy`,
  ///   `ioFailed`.
  public func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
    let options = try LMDBOptions(configuration)
    let use = try LMDBRegistry.shared.environment(at: options.path, mapSize: options.mapSize)
    return LMDBEngine(use, durability: options.durability, clock: configuration.clock)
  }

  /// Inspects the store's files, and reads the format from the data file without LMDB.
  ///
  /// - Throws: `CacheError`: `permissionDenied`, `ioFailed`.
  public func inspect(_ configuration: EngineConfiguration) async throws(CacheError) -> StoreInspection {
    let path = try LMDBOptions(configuration).path
    let files = [LMDBFile.data(in: path), LMDBFile.lock(in: path)].filter { LMDBFile.status($0) != nil }
    let format = try LMDBDataFile(readingIfPresentIn: path)?.format
    return StoreInspection(
      path: path, files: files, format: format, currentFormat: Int(LMDBSummary.currentFormat))
  }

  /// Saves the readable entries of a damaged store; see `LMDBRepair`.
  ///
  /// Cost: two passes over the damaged file, and writing a new one.
  ///
  /// - Throws: `CacheError`: `busy`, `noSpace`, `ioFailed`, `permissionDenied`, and `unsupportedFormat` if the store
  ///   is of a later version. On any error the store is unchanged.
  public func repair(
    _ configuration: EngineConfiguration, _ plan: RepairPlan
  ) async throws(CacheError) -> RepairReport {
    let path = try LMDBOptions(configuration).path
    return try await BlockingExecutor().run { () throws(CacheError) in
      try LMDBRegistry.shared.whileClosed(at: path) { () throws(CacheError) in try LMDBRepair(path, plan).run() }
    }
  }

  /// Reports what a repair would do, from the damaged file alone. Cost: two passes over it, and memory for all keys.
  ///
  /// - Throws: `CacheError`: the same errors as `repair`.
  public func previewRepair(
    _ configuration: EngineConfiguration, _ plan: RepairPlan
  ) async throws(CacheError) -> RepairReport {
    let path = try LMDBOptions(configuration).path
    return try await BlockingExecutor().run { () throws(CacheError) in
      try LMDBRegistry.shared.whileClosed(at: path) { () throws(CacheError) in try LMDBRepair(path, plan).preview() }
    }
  }

  /// Removes the data file, whatever it contains, unless a process has the store open.
  ///
  /// - Throws: `CacheError`: `busy` if a process has the store open, `unsupportedFormat` if the store is of a later
  ///   version, `permissionDenied`, `ioFailed`.
  public func removeStore(_ configuration: EngineConfiguration) async throws(CacheError) {
    let path = try LMDBOptions(configuration).path
    try await BlockingExecutor().run { () throws(CacheError) in
      try LMDBRegistry.shared.whileClosed(at: path) { () throws(CacheError) in try LMDBRemoval.run(path) }
    }
  }
}
