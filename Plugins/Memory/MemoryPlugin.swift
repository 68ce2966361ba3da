public import StorageSPI

/// The engine that keeps entries in a dictionary, for as long as the process lives.
///
/// It serves tests, and benchmarks as the control that shows what everything around an engine costs.
public struct MemoryPlugin: StoragePlugin {
  /// What the engine is called and can do.
  public let declaration = EngineDeclaration(
    name: "memory", version: "1", summary: "a dictionary in memory, gone when the process ends",
    capabilities: [.atomicBatches], options: MemoryOptions.all)

  /// The plugin.
  public init() {}

  /// Makes an empty store; it never fails.
  public func open(_ configuration: EngineConfiguration) async throws(StorageError) -> any StorageEngine {
    MemoryEngine(clock: configuration.clock)
  }
}
