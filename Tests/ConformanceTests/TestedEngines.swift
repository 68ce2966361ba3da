import LMDBStorage
import MemoryStorage
import PlistStorage
import SQLiteStorage
import StorageSPI

/// Every engine that the suite runs over. A new engine is one line here.
enum TestedEngines {
  static let all: [any StoragePlugin] = [
    MemoryPlugin(),
    PlistPlugin(),
    SQLitePlugin(),
    LMDBPlugin(),
    RegistryPlugin(),
  ]

  /// The names of engines that do not keep the bounds of a batch yet, over which the checks with bounds are not run.
  static let withoutBounds: Set<String> = ["sqlite", "lmdb"]
}
