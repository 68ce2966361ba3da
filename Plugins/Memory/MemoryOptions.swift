internal import StorageSPI

/// The options of the memory engine: it has none.
enum MemoryOptions {
  static let all: [EngineOption] = []
}
