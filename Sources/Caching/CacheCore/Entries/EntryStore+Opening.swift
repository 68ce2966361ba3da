public import EngineAPI

/// Opening and closing a store.
extension EntryStore {
  /// Opens the store of `plugin`, with the file next to it that says how it is used. If its damage has ended a process, the
  /// store is moved aside, and an empty one is opened.
  ///
  /// - Parameters:
  ///   - limits: how much it can hold; `nil` for no limits. They do not apply to an engine that is not `bounded`.
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
    // The engine might have created the file as its mark.
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

/// A store whose damage has ended a process: a file next to it says so.
///
/// An engine that maps its file into memory trusts it, and a damaged page can end the process that reads it. So the next
/// opening moves the store aside and begins with an empty one.
package struct CrashedStore: Sendable {
  private let plugin: any StoragePlugin
  private let configuration: EngineConfiguration
  /// The path of the file.
  private let mark: String
  /// Whether this process runs the command again that the store has ended: the disk might have had no space for the
  /// file.
  private static let isRetried = getenv("_CRASHED_STORE") != nil

  /// The store that `plugin` opens with `configuration`; `nil` if it has not ended a process. Cost: one system call.
  package init?(_ plugin: any StoragePlugin, _ configuration: EngineConfiguration) {
    guard let mark = configuration.crashMark, Self.isRetried || configuration.hasCrashMark else { return nil }
    self.plugin = plugin
    self.configuration = configuration
    self.mark = mark
  }

  /// The store as an error, which says what to do.
  package var error: CacheError {
    let name = plugin.declaration.name
    let left = configuration.hasCrashMark ? ", and left \(mark)" : ""
    return CacheError(
      .damaged, "a process crashed reading the store\(left)",
      hint: "save what can be read with: cachectl --backend \(name) verify --repair")
  }

  /// Moves the store aside, and removes the mark.
  ///
  /// - Returns: a warning that says where the store is now; `nil` if another process has moved it, or there is none.
  /// - Throws: `CacheError`: `busy` if the store is open, or another process is moving it; `damaged` if the store can
  ///   only be read; `permissionDenied` if the mark cannot be opened or removed; the engine's failure.
  package func moveAside() async throws(CacheError) -> CacheError? {
    if plugin.declaration.capabilities.contains(.readOnly) { throw error }
    let file = open(mark, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else {
      guard errno != ENOENT else { return nil }
      throw CacheError(.permissionDenied, "cannot open \(mark): \(String(cString: strerror(errno)))")
    }
    defer {
      // A process that is being started has the descriptor too, and with it the lock, until it runs its program.
      flock(file, LOCK_UN)
      close(file)
    }
    guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
      throw CacheError(.busy, "another process is moving a damaged store aside", hint: "try again")
    }
    guard configuration.hasCrashMark else { return nil }
    let moved = try await plugin.removeStore(configuration, movingAside: configuration.clock.now.damagedSuffix)
    try removeMark()
    guard let path = moved.first else { return nil }
    let name = plugin.declaration.name
    return CacheError(
      .damaged, "a process crashed reading the store of \(name): it is now \(path), and an empty one has its place",
      hint: "save what can be read of it with: \(plugin.declaration.commandsToSave(storeAt: path))")
  }

  /// Removes the mark, after the store was removed, moved or repaired.
  ///
  /// - Throws: `CacheError`: `permissionDenied` if it stays.
  package func removeMark() throws(CacheError) { try configuration.removeCrashMark() }
}

extension EngineDeclaration {
  /// The commands, for a shell, that save the readable entries of a damaged store at `path`, which is not the
  /// configured one: a repair makes it intact in place.
  package func commandsToSave(storeAt path: String) -> String {
    let store = "cachectl --backend \(name) --set \("backends.\(name).path=\(path)".shellWord)"
    return "\(store) verify --repair; \(store) export | cachectl --backend \(name) import"
  }
}

extension Timestamp {
  /// The suffix of the names of damaged files that are moved aside at this time, such as ".damaged-20260131T120000Z": a
  /// shell needs no quotes for it, and names sort by it.
  package var damagedSuffix: String {
    ".damaged-" + RFC3339.text(milliseconds).prefix { $0 != "." }.filter { $0 != "-" && $0 != ":" } + "Z"
  }
}
