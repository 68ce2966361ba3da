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
        throw Self.refusal("there is no store at \(found.path), and none may be created")
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

  fileprivate static func refusal(_ message: String = "the store may only be read") -> CacheError {
    CacheError(.permissionDenied, message, hint: "take the layer readonly away to change the store")
  }
}

/// An engine of the layer.
private final class ReadOnlyEngine: WrappingEngine {
  let base: any StorageEngine

  init(base: any StorageEngine) { self.base = base }

  func apply(_ batch: WriteBatch) async throws(CacheError) { throw ReadOnlyLayer.refusal() }
  func compact() async throws(CacheError) { throw ReadOnlyLayer.refusal() }
}
