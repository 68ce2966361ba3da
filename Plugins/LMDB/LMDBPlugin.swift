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
  /// - Throws: `StorageError`: `cannotCreate`, `damaged`, `unsupportedFormat`, `permissionDenied`, `ioFailed`.
  public func open(_ configuration: EngineConfiguration) async throws(StorageError) -> any StorageEngine {
    let options = try LMDBOptions(configuration)
    let environment = try LMDBRegistry.shared.environment(at: options.path, mapSize: options.mapSize)
    return LMDBEngine(environment: environment, durability: options.durability, clock: configuration.clock)
  }
}
