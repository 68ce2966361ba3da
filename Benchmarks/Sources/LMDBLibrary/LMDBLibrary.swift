internal import LMDBStorage
internal import EngineExport

/// The LMDB engine as a shared library, to measure what the C interface costs. Nothing waits: reads look into the mapped
/// file, and the measured commits are `relaxed`.
@c public func cachectl_plugin(_ abi: UInt32) -> UnsafeRawPointer? {
  PluginExport.table(of: LMDBPlugin(), abi, readsWait: false, changesWait: false)
}
