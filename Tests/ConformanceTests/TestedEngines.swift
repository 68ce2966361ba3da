import MemoryStorage
import StorageSPI

/// Every engine that the suite runs over. A new engine is one line here.
enum TestedEngines {
  static let all: [any StoragePlugin] = [
    MemoryPlugin(),
    RegistryPlugin(),
  ]
}
