public import CachectlTool
public import EngineAPI

/// An engine layer, to see what a program does without its cache: every read fails.
public struct FailingLayer: EngineLayer {
  /// The plugin of the engine inside.
  public let base: any StoragePlugin

  /// The engine around `engine`.
  public func wrap(_ engine: any StorageEngine) -> any StorageEngine { FailingEngine(base: engine) }
}

/// An engine whose reads fail. Whatever it does not implement, the engine inside does.
private final class FailingEngine: WrappingEngine {
  let base: any StorageEngine

  init(base: any StorageEngine) { self.base = base }

  func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? { throw CacheError(.ioFailed, "a read that fails on purpose") }
}

/// The section `layers.failing`, which has no keys. `cache.layers` names the layer.
public struct FailingSettings: LayerSettings {
  /// "layers.failing".
  public static var path: String { "layers.failing" }

  /// Declares nothing.
  public init(_ keys: inout SectionReader) {}

  /// Makes the layer.
  public func makeLayer(over plugin: any StoragePlugin) throws(CacheError) -> any StoragePlugin {
    FailingLayer(base: plugin)
  }
}
