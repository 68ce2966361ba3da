internal import LMDBStorage
internal import EngineExport

/// The LMDB engine as a shared library, to measure what the C interface costs. Its reads never wait: they look into the
/// mapped file.
@c public func cachectl_plugin(_ abi: UInt32) -> UnsafeRawPointer? {
  PluginExport.table(of: LMDBPlugin(), abi, readsWait: false)
}
