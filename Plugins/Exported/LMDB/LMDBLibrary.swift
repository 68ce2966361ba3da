internal import LMDBStorage
internal import StoragePluginExport

/// The library's entry point.
@c public func cachectl_plugin(_ abi: UInt32) -> UnsafeRawPointer? {
  PluginExport.table(of: LMDBPlugin(), abi, readsWait: false)
}
