public import StorageSPI

/// Keeps entries on Redis: one server, a cluster, or the master that Sentinels name.
public struct RedisPlugin: StoragePlugin {
  /// The engine's name, capabilities and options.
  public let declaration = EngineDeclaration(
    name: "redis", version: "1", summary: "a Redis server or cluster that many machines share",
    capabilities: [.persistent, .shared, .expiring, .followsChanges], options: RedisOptions.all)

  /// Creates the plugin.
  public init() {}

  /// Connects to the server.
  public func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
    throw CacheError(.unsupported, "not yet")
  }

  /// Asks the server for the store.
  public func inspect(_ configuration: EngineConfiguration) async throws(CacheError) -> StoreInspection {
    throw CacheError(.unsupported, "not yet")
  }
}

extension StorageLocation {
  /// The store on the server at `url`, such as "redis://127.0.0.1:6379" or "unix:///run/redis/redis-server.sock". The
  /// names of its keys there begin with `prefix`.
  public static func redis(url: String, prefix: String = "cachectl") -> StorageLocation {
    StorageLocation(RedisPlugin(), ["url": .text(url), "prefix": .text(prefix)])
  }
}
