internal import StorageSPI

/// The options of the plist engine: their declarations and their values.
struct PlistOptions: Sendable {
  static let path = EngineOption(
    "path", .path, default: .text("plist"), help: "the folder that holds one JSON file per namespace")

  static let all: [EngineOption] = [path, .durability, .busyTimeout]

  /// The store's folder.
  var path: String
  /// What a commit survives.
  var durability: Durability
  /// How long to wait for a lock that another handle holds.
  var busyTimeout: Duration

  init(path: String, durability: Durability = .normal, busyTimeout: Duration = .seconds(5)) {
    self.path = path
    self.durability = durability
    self.busyTimeout = busyTimeout
  }

  init(_ configuration: EngineConfiguration) throws(CacheError) {
    self.init(
      path: try configuration.text(Self.path.name), durability: try configuration.durability(),
      busyTimeout: .milliseconds(try configuration.integer(EngineOption.busyTimeout.name)))
  }
}
