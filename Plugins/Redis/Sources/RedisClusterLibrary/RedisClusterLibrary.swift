import RedisStorage
import StoragePluginExport

/// What cachectl looks for in the library.
@c public func cachectl_plugin(_ abi: UInt32) -> UnsafeRawPointer? {
  PluginExport.table(of: RedisPlugin(.cluster), abi)
}
