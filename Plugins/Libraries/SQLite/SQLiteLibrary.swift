internal import SQLiteStorage
internal import StoragePluginExport

/// The one function of the library.
@c public func cachectl_plugin(_ abi: UInt32) -> UnsafeRawPointer? {
  PluginExport.table(of: SQLitePlugin(), abi, readsWait: false)
}
