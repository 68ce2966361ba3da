internal import Notebook
internal import EngineExport

/// The one function of the library. Reads never wait here: they are served from memory.
@c public func cachectl_plugin(_ abi: UInt32) -> UnsafeRawPointer? {
  PluginExport.table(of: NotebookPlugin(), abi, readsWait: false)
}
