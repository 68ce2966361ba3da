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

  /// Says that there is nothing but memory: no files, and so no format of files.
  public func inspect(_ configuration: EngineConfiguration) async throws(StorageError) -> StoreInspection {
    StoreInspection(path: "memory", files: [], format: nil, currentFormat: 1)
  }

  /// Saves nothing and changes nothing: what no process holds is gone, and what one holds is not damaged.
  public func repair(
    _ configuration: EngineConfiguration, _ plan: RepairPlan
  ) async throws(StorageError) -> RepairReport {
    RepairReport(saved: 0)
  }

  /// Says that there is nothing to save.
  public func previewRepair(
    _ configuration: EngineConfiguration, _ plan: RepairPlan
  ) async throws(StorageError) -> RepairReport {
    RepairReport(saved: 0)
  }
}
