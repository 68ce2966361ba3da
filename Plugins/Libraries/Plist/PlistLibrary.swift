internal import PlistStorage
internal import StoragePluginExport

/// The one function of the library.
@c public func cachectl_plugin(_ abi: UInt32) -> UnsafeRawPointer? {
  PluginExport.table(of: PlistPlugin(), abi)
}
