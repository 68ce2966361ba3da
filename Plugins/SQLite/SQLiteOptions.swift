internal import StorageSPI

/// The options of the SQLite engine: their declarations and their values.
struct SQLiteOptions: Sendable {
  static let path = EngineOption(
    "path", .path, default: .text("cache.sqlite"), help: "the database file; its log lies beside it")

  static let all: [EngineOption] = [path, .durability, .busyTimeout]

  /// The path of the database file.
  let path: String
  let durability: Durability
  /// How long to wait for another process, in milliseconds.
  let busyTimeout: Int32

  init(_ configuration: EngineConfiguration) throws(CacheError) {
    let path = try configuration.text(Self.path.name)
    // SQLite treats ":memory:" specially, but not if a folder precedes it.
    self.path = SQLiteFiles.resolved(path.hasPrefix("/") ? path : "./" + path)
    self.durability = try configuration.durability()
    self.busyTimeout = Int32(clamping: try configuration.integer(EngineOption.busyTimeout.name))
  }

  /// The options of `other` for another file.
  init(path: String, _ other: SQLiteOptions) {
    (self.path, durability, busyTimeout) = (path, other.durability, other.busyTimeout)
  }
}

extension Durability {
  /// The value of `PRAGMA synchronous` that provides the durability in write-ahead mode.
  var synchronous: String {
    switch self {
    case .full: "FULL"
    case .normal: "NORMAL"
    case .relaxed: "OFF"
    }
  }
}
