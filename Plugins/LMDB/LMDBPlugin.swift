internal import CLMDB
public import StorageSPI

/// The engine that keeps entries in an LMDB environment: one memory-mapped B+ tree a namespace, read without copying.
///
/// The store is a folder that any number of processes use at once. How it is laid out is described in the README.
public struct LMDBPlugin: StoragePlugin {
  /// What the engine is called, can do and can be told. The version is that of the LMDB library.
  public let declaration: EngineDeclaration

  /// The plugin.
  public init() {
    var (major, minor, patch): (Int32, Int32, Int32) = (0, 0, 0)
    _ = mdb_version(&major, &minor, &patch)
    declaration = EngineDeclaration(
      name: "lmdb", version: "\(major).\(minor).\(patch)",
      summary: "a memory-mapped B+ tree, the fastest to read, shared by processes",
      capabilities: [.persistent, .shared, .atomicBatches], options: LMDBOptions.all)
  }

  /// Opens the store, and makes it first where there is none.
  ///
  /// Handles on one store within a process share one environment, as LMDB demands. Cost: about a tenth of a
  /// millisecond, and the check of the tree's pages (see the README).
  ///
  /// - Throws: `StorageError`: `cannotCreate`, `damaged`, `unsupportedFormat`, `permissionDenied`, `noSpace`, `busy`,
  ///   `ioFailed`.
  public func open(_ configuration: EngineConfiguration) async throws(StorageError) -> any StorageEngine {
    let options = try LMDBOptions(configuration)
    let use = try LMDBRegistry.shared.environment(at: options.path, mapSize: options.mapSize)
    return LMDBEngine(use, durability: options.durability, clock: configuration.clock)
  }

  /// Looks at the store's files, and in the data file for its format, by the engine's own means.
  ///
  /// - Throws: `StorageError`: `permissionDenied`, `ioFailed`.
  public func inspect(_ configuration: EngineConfiguration) async throws(StorageError) -> StoreInspection {
    let path = try LMDBOptions(configuration).path
    let files = [LMDBFile.data(in: path), LMDBFile.lock(in: path)].filter { LMDBFile.status($0) != nil }
    let format = try LMDBDataFile(readingIfPresentIn: path)?.format
    return StoreInspection(
      path: path, files: files, format: format, currentFormat: Int(LMDBSummary.currentFormat))
  }

  /// Saves what can still be read of a damaged store; see `LMDBRepair`.
  ///
  /// Cost: two passes over the damaged file, and the writing of a new one.
  ///
  /// - Throws: `StorageError`: `busy`, `noSpace`, `ioFailed`, `permissionDenied`, and `unsupportedFormat` where the
  ///   store is of a later version. Then it is as it was.
  public func repair(
    _ configuration: EngineConfiguration, _ plan: RepairPlan
  ) async throws(StorageError) -> RepairReport {
    let path = try LMDBOptions(configuration).path
    return try await BlockingExecutor().run { () throws(StorageError) in
      try LMDBRegistry.shared.whileClosed(at: path) { () throws(StorageError) in try LMDBRepair(path, plan).run() }
    }
  }

  /// Says what a repair would do, from the damaged file alone. Cost: two passes over it, and memory for all keys.
  ///
  /// - Throws: `StorageError`: as `repair`.
  public func previewRepair(
    _ configuration: EngineConfiguration, _ plan: RepairPlan
  ) async throws(StorageError) -> RepairReport {
    let path = try LMDBOptions(configuration).path
    return try await BlockingExecutor().run { () throws(StorageError) in
      try LMDBRegistry.shared.whileClosed(at: path) { () throws(StorageError) in try LMDBRepair(path, plan).preview() }
    }
  }

  /// Removes the data file, whatever is in it, while no process has the store open.
  ///
  /// - Throws: `StorageError`: `busy` where one has, `unsupportedFormat` where the store is of a later version,
  ///   `permissionDenied`, `ioFailed`.
  public func removeStore(_ configuration: EngineConfiguration) async throws(StorageError) {
    let path = try LMDBOptions(configuration).path
    try await BlockingExecutor().run { () throws(StorageError) in
      try LMDBRegistry.shared.whileClosed(at: path) { () throws(StorageError) in try LMDBRemoval.run(path) }
    }
  }
}
