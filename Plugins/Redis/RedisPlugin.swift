public import StorageSPI

/// Keeps entries on Redis. There are three engines: one on a single server, which any number of machines can share; one
/// on a Redis Cluster, across all its nodes; and one on a single server that evicts by itself.
///
/// On a cluster a batch is atomic within each slot, but not across slots. So that engine does not declare
/// `atomicBatches`.
public struct RedisPlugin: StoragePlugin {
  /// What the address points to.
  public enum Kind: Sendable {
    /// One server.
    case server
    /// The nodes of a Redis Cluster.
    case cluster
    /// One server that evicts what it chooses, by its `maxmemory` and a `maxmemory-policy` such as `allkeys-lru`. The
    /// store has no index, which the server could evict too.
    case evictingServer
  }

  /// The engine's name, capabilities and options. The version is that of the layout on the server.
  public let declaration: EngineDeclaration
  private let kind: Kind

  /// Creates the plugin for servers of `kind`.
  public init(_ kind: Kind = .server) {
    self.kind = kind
    declaration =
      switch kind {
      case .server:
        EngineDeclaration(
          name: "redis", version: "1", summary: "one Redis server that many machines share",
          capabilities: [.persistent, .shared, .ordered, .bounded, .expiring, .atomicBatches, .followsChanges],
          options: RedisOptions.all)
      case .cluster:
        EngineDeclaration(
          name: "rediscluster", version: "1", summary: "a Redis Cluster, the entries spread over its nodes",
          capabilities: [.persistent, .shared, .ordered, .bounded, .expiring], options: RedisOptions.all)
      case .evictingServer:
        EngineDeclaration(
          name: "rediscache", version: "1",
          summary: "one Redis server that evicts by itself (allkeys-lru, allkeys-lfu)",
          capabilities: [.persistent, .shared, .ordered, .expiring, .atomicBatches, .followsChanges],
          options: RedisOptions.all)
      }
  }

  /// Connects to the server, or asks the nodes of the address for the others, and checks that the store there is one of
  /// this engine. Cost: a connection and two round trips.
  ///
  /// - Throws: `CacheError`: `unreachable` if no server of the address answers, `permissionDenied` if one refuses the
  ///   user or the password, `unsupportedFormat` if the store is of another version, `invalidOption` if the address is
  ///   invalid or leads to a server of the other kind.
  public func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
    try await RedisEngine.open(try RedisOptions(configuration, kind: kind), clock: configuration.clock)
  }

  /// Asks the server whether the store exists, and for its format. Cost: a connection and two round trips.
  ///
  /// - Throws: the same errors as `open(_:)`.
  public func inspect(_ configuration: EngineConfiguration) async throws(CacheError) -> StoreInspection {
    try await RedisEngine.inspect(try RedisOptions(configuration, kind: kind), clock: configuration.clock)
  }

  /// Removes all entries and everything else that the store keeps, whatever its state. It touches nothing else on the
  /// server. It cannot tell whether other processes have the store open; they find it empty. Cost: a round trip for
  /// each 1,000 entries.
  ///
  /// - Throws: the same errors as `open(_:)`.
  public func removeStore(
    _ configuration: EngineConfiguration, movingAside suffix: String?
  ) async throws(CacheError) -> [String] {
    guard suffix == nil else { throw .cannotMoveAside(declaration.name) }
    try await RedisEngine.removeStore(try RedisOptions(configuration, kind: kind), clock: configuration.clock)
    return []
  }
}

extension StorageLocation {
  /// The store on the server at `url`, such as "redis://127.0.0.1:6379" or "unix:///run/redis/redis-server.sock". The
  /// names of its keys there begin with `prefix`.
  public static func redis(url: String, prefix: String = "cachectl") -> StorageLocation {
    StorageLocation(RedisPlugin(), ["url": .text(url), "prefix": .text(prefix)])
  }
}
