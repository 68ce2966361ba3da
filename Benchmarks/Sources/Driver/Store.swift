internal import LMDBStorage
internal import LibraryStorage
internal import SQLiteStorage
internal import StorageSPI

/// A clock that stands still, while all entries are fresh.
struct FixedClock: WallClock {
  let now = Timestamp(milliseconds: 1_767_225_600_000)
}

/// Which store is worked on.
struct Store {
  private let plugin: any StoragePlugin
  private let configuration: EngineConfiguration

  /// The store at `path`.
  ///
  /// - Parameter engine: the name of an engine that is linked in, or the path of a library with one. Its commits do not
  ///   wait for the disk: SQLite's are `normal`, LMDB's `relaxed`.
  init(engine: String, path: String) throws {
    plugin = try Self.plugin(engine)
    let durability: Durability = plugin.declaration.name == "lmdb" ? .relaxed : .normal
    configuration = try EngineConfiguration(
      for: plugin.declaration, values: ["path": .text(path), "durability": .text(durability.rawValue)],
      clock: FixedClock())
  }

  func open() async throws(CacheError) -> any StorageEngine { try await plugin.open(configuration) }

  private static func plugin(_ name: String) throws -> any StoragePlugin {
    let plugins: [any StoragePlugin] = [SQLitePlugin(), LMDBPlugin()]
    if let plugin = plugins.first(where: { $0.declaration.name == name }) { return plugin }
    return try LibraryPlugin(loading: name)
  }
}
