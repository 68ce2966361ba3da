public import StorageSPI

/// The engine that keeps each namespace in one JSON property-list file, loaded whole and written whole.
///
/// The store is a folder that people, `jq` and `plutil -p` can read. It suits small stores that are read far more often
/// than written: the cost of a write grows with the namespace, not with the change.
public struct PlistPlugin: StoragePlugin {
  /// What the engine is called, can do and can be told.
  public let declaration = EngineDeclaration(
    name: "plist", version: "1", summary: "one readable JSON file per namespace, loaded whole and written whole",
    capabilities: [.persistent, .shared, .atomicBatches], options: PlistOptions.all)

  /// The plugin.
  public init() {}

  /// Opens the folder, and makes it first where there is none. No file is read before its namespace is asked for, so
  /// damage shows only then.
  ///
  /// - Throws: `StorageError`: `cannotCreate`, `permissionDenied`, `ioFailed`; `invalidOption` where an option is
  ///   missing.
  public func open(_ configuration: EngineConfiguration) async throws(StorageError) -> any StorageEngine {
    let options = try PlistOptions(configuration)
    return try await PlistEngine.open(options, clock: configuration.clock)
  }

  /// Looks at the names in the folder and at the beginning of each file, without the lock. The format is the latest of
  /// those of all files.
  ///
  /// - Throws: `StorageError`: `permissionDenied`, `ioFailed`; `invalidOption` where an option is missing.
  public func inspect(_ configuration: EngineConfiguration) async throws(StorageError) -> StoreInspection {
    let folder = PlistFolder(path: try PlistOptions(configuration).path, fileSystem: SystemFileSystem())
    return try await BlockingExecutor().run { () throws(StorageError) in try folder.inspect() }
  }

  /// Replaces each damaged file by one with the entries of it that can be read and are sound. The number of entries
  /// saved is that of all entries that the store then holds.
  ///
  /// - Throws: `StorageError`: `busy` where somebody holds the lock for longer than the time-out, `unsupportedFormat`
  ///   where a file is of a later version, `noSpace`, `permissionDenied`, `ioFailed`; `invalidOption` where an option is
  ///   missing. Then no file has been replaced.
  public func repair(
    _ configuration: EngineConfiguration, _ plan: RepairPlan
  ) async throws(StorageError) -> RepairReport {
    let options = try PlistOptions(configuration)
    return try await BlockingExecutor().run { () throws(StorageError) in try PlistRepair(options, plan).run() }
  }

  /// Says what a repair would save and lose.
  ///
  /// - Throws: `StorageError`: as `repair`.
  public func previewRepair(
    _ configuration: EngineConfiguration, _ plan: RepairPlan
  ) async throws(StorageError) -> RepairReport {
    let options = try PlistOptions(configuration)
    return try await BlockingExecutor().run { () throws(StorageError) in try PlistRepair(options, plan).preview() }
  }

  /// Removes every file of the store but the lock's, under the lock: other handles go on with an empty store. What is no
  /// file is moved aside.
  ///
  /// - Throws: `StorageError`: `busy` where another handle holds the lock for longer than the time-out,
  ///   `permissionDenied`, `ioFailed`; `invalidOption` where an option is missing.
  public func removeStore(_ configuration: EngineConfiguration) async throws(StorageError) {
    let options = try PlistOptions(configuration)
    try await BlockingExecutor().run { () throws(StorageError) in try PlistRemoval.run(options) }
  }
}
