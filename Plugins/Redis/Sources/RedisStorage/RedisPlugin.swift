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

  /// Says where the store is, without asking the server.
  ///
  /// - Throws: `StorageError` with the code `invalidOption` where the address is none.
  public func inspect(_ configuration: EngineConfiguration) async throws(StorageError) -> StoreInspection {
    StoreInspection(try RedisOptions(configuration, kind: .server))
  }
}

extension StoreInspection {
  init(_ options: RedisOptions) {
    self.init(path: options.description, files: [], format: nil, currentFormat: RedisLayout.format)
  }
}
