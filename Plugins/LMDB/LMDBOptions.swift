internal import StorageSPI

/// The options of the LMDB engine.
struct LMDBOptions {
  /// The store's folder.
  let path: String
  /// The initial size of the memory map, in bytes.
  let mapSize: Int
  let durability: Durability

  static let all: [EngineOption] = [
    EngineOption("path", .path, default: .text("lmdb"), help: "the folder that holds the store"),
    EngineOption(
      "mapSize", .size(1_048_576...70_368_744_177_664), default: .integer(67_108_864),
      help: "the size of the memory map to begin with; it grows by itself"),
    .durability,
  ]

  init(_ configuration: EngineConfiguration) throws(CacheError) {
    path = try configuration.text("path")
    mapSize = Int(try configuration.integer("mapSize"))
    durability = try configuration.durability()
  }
}
