/// The place of a cache's entries: an engine, and the options to open its store with.
///
/// Each engine's module adds a short form of its own:
///
///     import LMDBStorage
///     let location = StorageLocation.lmdb(path: "/var/cache/my-app")
///
/// An engine without one is named by its plugin.
public struct StorageLocation: Sendable {
  /// Makes the engine.
  public let plugin: any StoragePlugin
  /// The engine's options by name. An option that is left out has its default. In a path, a leading `~` stands for the
  /// user's home folder.
  public var options: [String: OptionValue]

  /// The store that `plugin` opens with `options`.
  public init(_ plugin: any StoragePlugin, _ options: [String: OptionValue] = [:]) {
    self.plugin = plugin
    self.options = options
  }

  /// Opens the store, and creates it first if there is none.
  ///
  /// - Throws: `CacheError`: `invalidOption`; `damaged` if its damage has ended a process; or the engine's failure, see
  ///   `StoragePlugin.open(_:)`.
  public func open(clock: any WallClock) async throws(CacheError) -> any StorageEngine {
    let configuration = try configuration(clock)
    guard !configuration.hasCrashMark else {
      throw CacheError(
        .damaged, "a process crashed reading the store, and left \(configuration.crashMark ?? "")",
        hint: "begin with an empty store after StorageLocation.removeStore()")
    }
    return try await plugin.open(configuration)
  }

  /// Removes the store with everything in it, whatever its state: a damaged one too, and on a full disk. Opening it
  /// afterwards creates an empty one.
  ///
  /// - Throws: `CacheError`: `busy` while the store is open, `cannotCreate` if it is not a store of this engine, or the
  ///   engine's failure; see `StoragePlugin.removeStore(_:movingAside:)`.
  public func removeStore(clock: any WallClock = SystemWallClock()) async throws(CacheError) {
    let configuration = try configuration(clock)
    _ = try await plugin.removeStore(configuration, movingAside: nil)
    try configuration.removeCrashMark()
  }

  /// The configuration with which the plugin opens the store.
  ///
  /// - Throws: `CacheError` with the code `invalidOption`.
  package func configuration(_ clock: any WallClock) throws(CacheError) -> EngineConfiguration {
    let declaration = plugin.declaration
    var values = options
    for option in declaration.options {
      guard case .path = option.kind, case .text(let path)? = values[option.name] else { continue }
      values[option.name] = .text(HomeFolder.expanded(path))
    }
    return try EngineConfiguration(for: declaration, values: values, clock: clock)
  }
}
