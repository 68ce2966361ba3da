import RedisStorage
import StoragePluginExport

/// The library's entry point.
@c public func cachectl_plugin(_ abi: UInt32) -> UnsafeRawPointer? {
  PluginExport.table(of: RedisPlugin(.evictingServer), abi)
}
