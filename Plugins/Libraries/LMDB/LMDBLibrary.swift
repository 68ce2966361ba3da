internal import LMDBStorage
internal import StoragePluginExport

/// The one function of the library.
@c public func cachectl_plugin(_ abi: UInt32) -> UnsafeRawPointer? {
  PluginExport.table(of: LMDBPlugin(), abi, readsWait: false)
}
