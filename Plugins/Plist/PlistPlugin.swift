internal import EngineSupport
public import StorageSPI

/// Keeps each namespace in a JSON property-list file, which it reads and writes as a whole.
///
/// The store is a folder that people, `jq` and `plutil -p` can read. It suits small stores that are read far more often
/// than written: the cost of a write grows with the namespace, not with the change.
public struct PlistPlugin: StoragePlugin {
  /// The engine's name, capabilities and options.
  public let declaration = EngineDeclaration(
    name: "plist", version: "1", summary: "one readable JSON file per namespace, loaded whole and written whole",
    capabilities: [.persistent, .shared, .atomicBatches], options: PlistOptions.all)

  /// Creates the plugin.
  public init() {}

  /// Opens the folder, and creates it first if there is none. It reads a file only when its namespace is first used, so
  /// damage shows up only then.
  ///
  /// - Throws: `CacheError`: `cannotCreate`, `permissionDenied`, `ioFailed`; `invalidOption` if an option is missing.
  public func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
    let options = try PlistOptions(configuration)
    return try await PlistEngine.open(options, clock: configuration.clock)
  }

  /// Inspects the names in the folder and the start of each file, without the lock. The reported format is the latest
  /// of all files.
  ///
  /// - Throws: `CacheError`: `permissionDenied`, `ioFailed`; `invalidOption` if an option is missing.
  public func inspect(_ configuration: EngineConfiguration) async throws(CacheError) -> StoreInspection {
    let folder = PlistFolder(path: try PlistOptions(configuration).path, fileSystem: SystemFileSystem())
    return try await BlockingExecutor().run { () throws(CacheError) in try folder.inspect() }
  }

  /// Replaces each damaged file with one that contains its readable, sound entries. The report's number of saved
  /// entries counts all entries that the store then holds.
  ///
  /// - Throws: `CacheError`: `busy` if another handle holds the lock for longer than the time-out,
  ///   `unsupportedFormat` if a file is of a later version, `noSpace`, `permissionDenied`, `ioFailed`; `invalidOption`
  ///   if an option is missing. On any error no file has been replaced.
  public func repair(
    _ configuration: EngineConfiguration, _ plan: RepairPlan
  ) async throws(CacheError) -> RepairReport {
    let options = try PlistOptions(configuration)
    return try await BlockingExecutor().run { () throws(CacheError) in try PlistRepair(options, plan).run() }
  }

  /// Reports what a repair would save and lose.
  ///
  /// - Throws: `CacheError`: the same errors as `repair`.
  public func previewRepair(
    _ configuration: EngineConfiguration, _ plan: RepairPlan
  ) async throws(CacheError) -> RepairReport {
    let options = try PlistOptions(configuration)
    return try await BlockingExecutor().run { () throws(CacheError) in try PlistRepair(options, plan).preview() }
  }

  /// Removes every file of the store except the lock file, under the lock; other handles go on with an empty store.
  /// Items that are not files are moved aside.
  ///
  /// - Throws: `CacheError`: `busy` if another handle holds the lock for longer than the time-out,
  ///   `permissionDenied`, `ioFailed`; `invalidOption` if an option is missing.
  public func removeStore(_ configuration: EngineConfiguration) async throws(CacheError) {
    let options = try PlistOptions(configuration)
    try await BlockingExecutor().run { () throws(CacheError) in try PlistRemoval.run(options) }
  }
}
