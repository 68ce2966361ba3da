public import EngineAPI

/// Keeps entries in a dictionary, for as long as the process lives.
///
/// It is for tests, and serves benchmarks as the control that shows what everything around an engine costs.
public struct MemoryPlugin: StoragePlugin {
  /// The engine's name and capabilities.
  public let declaration = EngineDeclaration(
    name: "memory", version: "1", summary: "a dictionary in memory, gone when the process ends",
    capabilities: [.ordered, .bounded, .atomicBatches, .countsChanges], options: MemoryOptions.all)

  /// Creates the plugin.
  public init() {}

  /// Creates an empty store; it never fails.
  public func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
    MemoryEngine(clock: configuration.clock)
  }

  /// Reports memory only: no files, and therefore no file format.
  public func inspect(_ configuration: EngineConfiguration) async throws(CacheError) -> StoreInspection {
    StoreInspection(path: "memory", files: [], format: nil, currentFormat: 1)
  }
}

/// The memory engine's options: it has none.
enum MemoryOptions {
  static let all: [EngineOption] = []
}

extension StorageLocation {
  /// A new store in memory. It is gone when it is closed, and no other cache sees it.
  public static var memory: StorageLocation { StorageLocation(MemoryPlugin()) }
}
