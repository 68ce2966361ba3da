/// An engine around another one: it opens the stores of `base`, each behind its own engine.
///
/// A layer implements what it changes; every other call goes to `base`. Layers can be put around each other, and users
/// name them in the configuration.
///
///     struct SlowLayer: EngineLayer {
///       let base: any StoragePlugin
///       func wrap(_ engine: any StorageEngine) -> any StorageEngine { SlowEngine(base: engine) }
///     }
public protocol EngineLayer: StoragePlugin {
  /// The plugin inside.
  var base: any StoragePlugin { get }

  /// The engine around `engine`, which `base` has opened. It closes `engine` when it is closed.
  func wrap(_ engine: any StorageEngine) -> any StorageEngine
}

extension EngineLayer {
  /// The plugin `base`.
  public var wrapped: (any StoragePlugin)? { base }

  /// The declaration of `base`: a layer takes the place of the engine, with its name and its options.
  public var declaration: EngineDeclaration { base.declaration }

  /// Opens a store of `base`, and wraps it.
  public func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
    wrap(try await base.open(configuration))
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
  public func scan(_ request: ScanRequest) async throws(CacheError) -> ScanPage { try await base.scan(request) }

  /// Passes the call on to `base`.
  public func count() async throws(CacheError) -> StoreCount { try await base.count() }

  /// Passes the call on to `base`.
  public func check() async throws(CacheError) -> [IntegrityIssue] { try await base.check() }

  /// Passes the call on to `base`.
  public func compact() async throws(CacheError) { try await base.compact() }

  /// The change count of `base`. A layer that changes the results of reads must return `nil` instead.
  public func changeCount() throws(CacheError) -> UInt64? { try base.changeCount() }

  /// The mark of `base`.
  public func changeMark(of key: CacheKey) -> ChangeMark? { base.changeMark(of: key) }

  /// Passes the call on to `base`.
  public func close() async throws(CacheError) { try await base.close() }
}

/// A layer that refuses every change, with the error `permissionDenied`. It neither creates, repairs nor removes a
/// store.
public struct ReadOnlyLayer: EngineLayer {
  /// The plugin of the engine inside.
  public let base: any StoragePlugin

  /// The layer around `base`.
  public init(over base: any StoragePlugin) {
    self.base = base
  }

  /// The declaration of `base`, with the capability `readOnly`.
  public var declaration: EngineDeclaration {
    base.declaration.with(base.declaration.capabilities.union([.readOnly]))
  }

  /// Opens the store.
  ///
  /// - Throws: `CacheError`: the failure of `base`; `permissionDenied` if there is no store, which would have to be
  ///   created. An engine that cannot tell opens its store anyway.
  public func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
    do throws(CacheError) {
      let found = try await base.inspect(configuration)
      if !found.exists, base.declaration.capabilities.contains(.persistent) {
        throw Self.refusal("there is no store at \(found.path), and this process must not create one")
      }
    } catch {
      if error.code != .unsupported { throw error }
    }
    return wrap(try await base.open(configuration))
  }

  /// `engine` without its ways to change the store.
  public func wrap(_ engine: any StorageEngine) -> any StorageEngine { ReadOnlyEngine(base: engine) }

  /// Fails.
  public func removeStore(
    _ configuration: EngineConfiguration, movingAside suffix: String?
  ) async throws(CacheError) -> [String] { throw Self.refusal() }

  fileprivate static func refusal(_ message: String = "the store is read-only") -> CacheError {
    CacheError(.permissionDenied, message, hint: "remove the layer readonly to change the store")
  }
}

private final class ReadOnlyEngine: WrappingEngine {
  let base: any StorageEngine

  init(base: any StorageEngine) { self.base = base }

  func apply(_ batch: WriteBatch) async throws(CacheError) { throw ReadOnlyLayer.refusal() }
  func compact() async throws(CacheError) { throw ReadOnlyLayer.refusal() }
}
