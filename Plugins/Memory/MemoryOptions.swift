internal import StorageSPI

/// The memory engine's options: it has none.
enum MemoryOptions {
  static let all: [EngineOption] = []
}
