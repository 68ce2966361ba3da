internal import LMDBStorage
internal import LibraryStorage
internal import MemoryStorage
internal import SQLiteStorage
internal import StorageSPI

/// A clock that stands still, while all entries are fresh.
struct FixedClock: WallClock {
  let now = Timestamp(milliseconds: 1_767_225_600_000)
}

/// Which store is worked on.
struct Store {
  /// Where it is.
  let location: StorageLocation

  /// The store at `path`.
  ///
  /// - Parameter engine: the name of an engine that is linked in, or the path of a library with one. Its commits do not
  ///   wait for the disk: SQLite's are `normal`, LMDB's `relaxed`. A store in memory has no path.
  init(engine: String, path: String) throws {
    let plugin = try Self.plugin(engine)
    guard plugin.declaration.name != "memory" else {
      location = StorageLocation(plugin)
      return
    }
    let durability: Durability = plugin.declaration.name == "lmdb" ? .relaxed : .normal
    location = StorageLocation(plugin, ["path": .text(path), "durability": .text(durability.rawValue)])
  }

  func open() async throws(CacheError) -> any StorageEngine { try await location.open(clock: FixedClock()) }

  private static func plugin(_ name: String) throws -> any StoragePlugin {
    let plugins: [any StoragePlugin] = [SQLitePlugin(), LMDBPlugin(), MemoryPlugin()]
    if let plugin = plugins.first(where: { $0.declaration.name == name }) { return plugin }
    return try LibraryPlugin(loading: name)
  }
}
