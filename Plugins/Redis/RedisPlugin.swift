public import EngineAPI

/// Keeps entries on Redis: on one server, on a Redis Cluster, or on the master that Sentinels name. Any number of machines
/// can share a store.
///
/// The server evicts entries, by its `maxmemory`, and drops expired ones. A batch whose keys are in one group is all or
/// nothing; on one server every batch is.
public struct RedisPlugin: StoragePlugin {
  /// The engine's name, capabilities and options. The version is that of the format.
  public let declaration = EngineDeclaration(
    name: "redis", version: "\(RedisEntry.format)",
    summary: "a Redis server or cluster that many machines share, and that evicts by itself",
    capabilities: [.persistent, .shared, .expiring, .followsChanges], options: RedisOptions.all)

  /// Creates the plugin.
  public init() {}

  /// Connects to the server; at a cluster or Sentinels, to the nodes that they name. Cost: a connection and two round trips.
  ///
  /// - Throws: `CacheError`: `unreachable` if no server of the address responds, `permissionDenied` if one refuses the
  ///   user or the password, `invalidOption` if the options cannot be used or do not fit the server.
  public func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
    try await engine(configuration)
  }

  /// Asks the server whether the store exists, and how it bounds the store. Cost: until an entry is found, the server looks
  /// at all its keys.
  ///
  /// - Throws: the same errors as `open(_:)`.
  public func inspect(_ configuration: EngineConfiguration) async throws(CacheError) -> StoreInspection {
    try await engine(configuration).inspect()
  }

  /// Removes all entries and whatever else is under their names. It touches nothing else on the server. It cannot tell
  /// whether others have the store open; they find it empty.
  ///
  /// - Throws: the same errors as `open(_:)`; `unsupported` if `suffix` is given.
  public func removeStore(
    _ configuration: EngineConfiguration, movingAside suffix: String?
  ) async throws(CacheError) -> [String] {
    guard suffix == nil else { throw CacheError(.unsupported, "backend \(declaration.name) cannot move a store aside") }
    try await engine(configuration).removeStore()
    return []
  }

  /// An open store, which closes itself when it is released.
  private func engine(_ configuration: EngineConfiguration) async throws(CacheError) -> RedisEngine {
    let options = try RedisOptions(configuration)
    return RedisEngine(options, try await RedisNodes.open(options), clock: configuration.clock)
  }
}

extension StorageLocation {
  /// The store on the server at `url`, such as "redis://127.0.0.1:6379" or "unix:///run/redis/redis-server.sock", on a
  /// cluster of which `url` names some nodes, or on the master that Sentinels name. The names of its keys begin with `prefix`.
  public static func redis(url: String, prefix: String = "cachectl") -> StorageLocation {
    StorageLocation(RedisPlugin(), ["url": .text(url), "prefix": .text(prefix)])
  }
}
