public import FetchVocabulary
public import EngineAPI

/// Opening and closing a store.
extension EntryStore {
  /// Opens the store of `plugin`, with the file next to it that says how it is used. If its damage has ended a process, the
  /// store is moved aside, and an empty one is opened.
  ///
  /// - Parameters:
  ///   - limits: how much it may hold; `nil` for no limits. They do not apply to an engine that is not `bounded`.
  ///   - transforms: what entries are written with, such as compression.
  ///   - home: the directory for the file of a store without a path; `nil` if there is none: then uses stay in memory.
  /// - Returns: also a warning, if the store was moved.
  /// - Throws: `CacheError`: the failure of `StoragePlugin.open(_:)` or `removeStore(_:movingAside:)`.
  public static func open(
    _ plugin: any StoragePlugin, _ configuration: EngineConfiguration, limits: StoreLimits?,
    transforms: EntryTransforms = .none, home: String? = nil
  ) async throws(CacheError) -> (store: EntryStore, warning: CacheError?) {
    let crashed = configuration.isForRepair ? nil : CrashedStore(plugin, configuration)
    let warning = try await crashed?.moveAside()
    let engine = try await plugin.open(configuration)
    let declaration = plugin.declaration
    let isReadOnly = configuration.isForRepair || declaration.capabilities.contains(.readOnly)
    // The engine may have created the file as its mark.
    let table = UseTable(of: declaration, configuration, home: home, maxEntries: limits?.maxEntries ?? 0)
    let store = EntryStore(
      over: engine, of: plugin, configuration.clock, limits: limits, transforms: transforms,
      uses: StoreUse(table, isReadOnly: isReadOnly, recordsUses: declaration.capabilities.contains(.bounded)))
    return (store, warning)
  }

  /// The store over `engine`, which `plugin` has opened, or will open if it can; `nil` if there is no such plugin.
  package init(
    over engine: any StorageEngine, of plugin: (any StoragePlugin)?, _ clock: any WallClock, limits: StoreLimits?,
    transforms: EntryTransforms, uses: StoreUse = StoreUse()
  ) {
    let capabilities = plugin?.declaration.capabilities ?? []
    self.init(
      engine: engine, clock: clock, limits: limits, uses: uses, capabilities: capabilities, transforms: transforms,
      leases: plugin?.takesLeases == true ? LeaseOptions() : nil)
  }

  /// Gives back the leases on requests that have not ended, writes how the store was used, and closes the engine.
  ///
  /// The file is written first: as long as the engine is open, no other process moves the store.
  ///
  /// - Returns: why the file could not be written; `nil` if it was written, or if this store never writes one.
  /// - Throws: `CacheError` with the code of the engine's failure.
  @discardableResult
  public func close() async throws(CacheError) -> CacheError? {
    decodedEntries?.removeAll()
    await coalescer.giveBackLeases()
    var warning: CacheError?
    do throws(CacheError) { try await uses.write() } catch { warning = error }
    try await engine.close()
    return warning?.code == .permissionDenied ? nil : warning
  }
}
