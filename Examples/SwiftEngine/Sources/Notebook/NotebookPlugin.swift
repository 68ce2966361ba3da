internal import EngineSupport
public import StorageSPI

/// What the engine says of itself, and how a store is opened.
public struct NotebookPlugin: StoragePlugin {
  static let path = EngineOption("path", .path, default: .text("notebook"), help: "the file that holds all entries")

  /// Options, flags, validation and help are all made out of this.
  public let declaration = EngineDeclaration(
    name: "notebook", version: "1", summary: "one file to which every change is appended",
    capabilities: [.persistent, .atomicBatches], options: [path, .durability])

  /// The plugin.
  public init() {}

  /// Reads the file, which is made where there is none.
  public func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
    let (path, durability) = (try configuration.text(Self.path.name), try configuration.durability())
    // What waits for a disk runs on a thread of its own.
    let executor = BlockingExecutor()
    return try await executor.run { () throws(CacheError) in
      try NotebookEngine(path, durability, clock: configuration.clock, executor)
    }
  }
}
