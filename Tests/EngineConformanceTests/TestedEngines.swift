import LMDBStorage
import MemoryStorage
import PlistStorage
import SQLiteStorage
import EngineAPI
import TestStorage

/// Every engine that the suite runs over. A new engine is one line here.
enum TestedEngines {
  static let all: [any StoragePlugin] = [
    MemoryPlugin(),
    PlistPlugin(),
    SQLitePlugin(),
    LMDBPlugin(),
    RegistryPlugin(),
  ]
}
