public import StorageSPI

/// The engine that keeps entries on one Redis server, which any number of machines may share.
public struct RedisPlugin: StoragePlugin {
  /// What the engine is called, can do and can be told. The version is that of the layout on the server.
  public let declaration = EngineDeclaration(
    name: "redis", version: "1", summary: "one Redis server that many machines share",
    capabilities: [.persistent, .shared, .atomicBatches, .nativeExpiry], options: RedisOptions.all)

  /// The plugin.
  public init() {}

  /// Connects to the server and looks whether what is there is of this engine. Cost: a connection and two round trips.
  ///
  /// - Throws: `StorageError`: `unreachable`, `permissionDenied` where the server refuses user or password,
  ///   `unsupportedFormat` where the store is of another version, `invalidOption` where the address is none or is that
  ///   of a cluster's node.
  public func open(_ configuration: EngineConfiguration) async throws(StorageError) -> any StorageEngine {
    try await RedisEngine.open(try RedisOptions(configuration, kind: .server), clock: configuration.clock)
  }

  /// Asks the server whether there is a store, and of which format. Cost: a connection and two round trips.
  ///
  /// - Throws: what `open(_:)` throws.
  public func inspect(_ configuration: EngineConfiguration) async throws(StorageError) -> StoreInspection {
    try await RedisEngine.inspect(try RedisOptions(configuration, kind: .server), clock: configuration.clock)
  }

  /// Removes unreadable entries, drops index lines without an entry, and counts the rest anew. There are no files
  /// that could be set aside. Others may go on using the store. Cost: every entry is read.
  ///
  /// - Throws: what `open(_:)` throws; `busy` where others write all the time.
  public func repair(
    _ configuration: EngineConfiguration, _ plan: RepairPlan
  ) async throws(StorageError) -> RepairReport {
    try await RedisEngine.repair(try RedisOptions(configuration, kind: .server), plan, clock: configuration.clock)
  }

  /// Removes all entries and all that the store keeps besides, in whatever state it is. Nothing else on the server is
  /// touched. Whether others have the store open cannot be asked: they find it empty. Cost: a round trip for each 1,000
  /// entries.
  ///
  /// - Throws: what `open(_:)` throws.
  public func removeStore(_ configuration: EngineConfiguration) async throws(StorageError) {
    try await RedisEngine.removeStore(try RedisOptions(configuration, kind: .server), clock: configuration.clock)
  }
}
