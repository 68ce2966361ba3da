public import StorageSPI

/// The engines that keep entries on Redis: one on a single server, which any number of machines may share, and one on a
/// Redis Cluster, over all of its nodes.
///
/// On a cluster a batch is atomic for each of the parts into which the store is divided (see `RedisLayout`), not over all
/// of them: hence that engine does not declare `atomicBatches`.
public struct RedisPlugin: StoragePlugin {
  /// What is at the address.
  public enum Kind: Sendable {
    /// One server.
    case server
    /// The nodes of a Redis Cluster.
    case cluster
  }

  /// What the engine is called, can do and can be told. The version is that of the layout on the server.
  public let declaration: EngineDeclaration
  private let kind: Kind

  /// The plugin of the engine for servers of `kind`.
  public init(_ kind: Kind = .server) {
    self.kind = kind
    declaration =
      switch kind {
      case .server:
        EngineDeclaration(
          name: "redis", version: "1", summary: "one Redis server that many machines share",
          capabilities: [.persistent, .shared, .atomicBatches, .nativeExpiry], options: RedisOptions.all)
      case .cluster:
        EngineDeclaration(
          name: "rediscluster", version: "1", summary: "a Redis Cluster, the entries spread over its nodes",
          capabilities: [.persistent, .shared, .nativeExpiry], options: RedisOptions.all)
      }
  }

  /// Connects to the server, or asks the nodes of the address for the others, and looks whether what is there is of this
  /// engine. Cost: a connection and two round trips.
  ///
  /// - Throws: `StorageError`: `unreachable` where no server of the address answers, `permissionDenied` where one refuses
  ///   user or password, `unsupportedFormat` where the store is of another version, `invalidOption` where the address
  ///   is none, or leads to a server of the other kind.
  public func open(_ configuration: EngineConfiguration) async throws(StorageError) -> any StorageEngine {
    try await RedisEngine.open(try RedisOptions(configuration, kind: kind), clock: configuration.clock)
  }

  /// Asks the server whether there is a store, and of which format. Cost: a connection and two round trips.
  ///
  /// - Throws: what `open(_:)` throws.
  public func inspect(_ configuration: EngineConfiguration) async throws(StorageError) -> StoreInspection {
    try await RedisEngine.inspect(try RedisOptions(configuration, kind: kind), clock: configuration.clock)
  }

  /// Removes unreadable entries, drops index lines without an entry, and counts the rest anew. There are no files
  /// that could be set aside. Others may go on using the store. Cost: every entry is read.
  ///
  /// - Throws: what `open(_:)` throws; `busy` where others write all the time.
  public func repair(
    _ configuration: EngineConfiguration, _ plan: RepairPlan
  ) async throws(StorageError) -> RepairReport {
    try await RedisEngine.repair(try RedisOptions(configuration, kind: kind), plan, clock: configuration.clock)
  }

  /// Removes all entries and all that the store keeps besides, in whatever state it is. Nothing else on the server is
  /// touched. A server does not say whether other processes have the store open: they find it empty. Cost: a round trip
  /// for each 1,000 entries.
  ///
  /// - Throws: what `open(_:)` throws.
  public func removeStore(_ configuration: EngineConfiguration) async throws(StorageError) {
    try await RedisEngine.removeStore(try RedisOptions(configuration, kind: kind), clock: configuration.clock)
  }
}
