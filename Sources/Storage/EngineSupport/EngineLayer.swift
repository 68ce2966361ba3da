public import StorageSPI

/// An engine around another one: it opens the stores of `base`, each behind an engine of its own.
///
/// A layer implements what it changes; every other call goes to `base`. Layers can be put around each other, and users
/// name them in the configuration.
///
///     struct SlowLayer: EngineLayer {
///       let base: any StoragePlugin
///       func wrap(_ engine: any StorageEngine) -> any StorageEngine { SlowEngine(base: engine) }
///     }
public protocol EngineLayer: WrappingPlugin {
  /// The engine around `engine`, which `base` has opened. It closes `engine` when it is closed.
  func wrap(_ engine: any StorageEngine) -> any StorageEngine
}

extension EngineLayer {
  /// The declaration of `base`: a layer takes the place of the engine, with its name and its options. But it does not
  /// evict, as the changes of an engine that does would go past the layer: the core chooses what goes.
  public var declaration: EngineDeclaration {
    base.declaration.with(base.declaration.capabilities.subtracting([.eviction]))
  }

  /// Opens a store of `base`, and wraps it.
  public func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
    wrap(try await base.open(configuration))
  }
}

/// A plugin around another one, to which every call goes that it does not implement.
public protocol WrappingPlugin: StoragePlugin {
  /// The plugin inside.
  var base: any StoragePlugin { get }
}

extension WrappingPlugin {
  /// The plugin `base`.
  public var wrapped: (any StoragePlugin)? { base }

  /// Passes the call on to `base`.
  public func inspect(_ configuration: EngineConfiguration) async throws(CacheError) -> StoreInspection {
    try await base.inspect(configuration)
  }

  /// Passes the call on to `base`.
  public func removeStore(
    _ configuration: EngineConfiguration, movingAside suffix: String?
  ) async throws(CacheError) -> [String] {
    try await base.removeStore(configuration, movingAside: suffix)
  }
}

/// An engine around another one: what `EngineLayer.wrap(_:)` returns.
public protocol WrappingEngine: StorageEngine {
  /// The engine inside, to which every call goes that the layer does not implement.
  var base: any StorageEngine { get }
}

extension WrappingEngine {
  /// The engine `base`.
  public var wrapped: (any StorageEngine)? { base }

  /// Passes the call on to `base`.
  public func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? { try await base.read(key, body) }

  /// Passes the call on to `base`.
  public func apply(_ batch: WriteBatch) async throws(CacheError) { try await base.apply(batch) }

  /// Passes the call on to `base`.
  public func scan(_ range: KeyRange, limit: Int) async throws(CacheError) -> [EntrySummary] {
    try await base.scan(range, limit: limit)
  }

  /// Passes the call on to `base`.
  public func statistics() async throws(CacheError) -> StorageStatistics { try await base.statistics() }

  /// Passes the call on to `base`.
  public func checkIntegrity() async throws(CacheError) -> [IntegrityIssue] { try await base.checkIntegrity() }

  /// Passes the call on to `base`.
  public func compact() async throws(CacheError) { try await base.compact() }

  /// Passes the call on to `base`.
  public func releaseMemory() async { await base.releaseMemory() }

  /// What counts the changes of `base`. A layer that changes what reads return must return `nil` instead.
  public var changeCounter: (any ChangeCounting)? { base.changeCounter }

  /// What follows the changes of `base`.
  public var changeFollower: (any ChangeFollowing)? { base.changeFollower }

  /// Passes the call on to `base`.
  public func close() async throws(CacheError) { try await base.close() }
}
