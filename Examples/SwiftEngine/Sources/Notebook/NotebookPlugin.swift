public import EngineAPI

/// The engine's description of itself. It opens stores.
public struct NotebookPlugin: StoragePlugin {
  static let path = EngineOption("path", .path, default: .text("notebook"), help: "the file that holds all entries")

  /// Flags, validation and help are all derived from this.
  public let declaration = EngineDeclaration(
    name: "notebook", version: "1", summary: "one file to which every change is appended",
    capabilities: [.persistent, .ordered, .bounded, .atomicBatches], options: [path, .durability])

  /// The plugin.
  public init() {}

  /// Reads the file, which is created if it is missing.
  public func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
    let path = try configuration.text(Self.path.name)
    let durability = try configuration.durability()
    // A call that waits for a disk runs on its own thread.
    let executor = BlockingExecutor()
    return try await executor.run { () throws(CacheError) in
      try NotebookEngine(path, durability, clock: configuration.clock, executor)
    }
  }
}
