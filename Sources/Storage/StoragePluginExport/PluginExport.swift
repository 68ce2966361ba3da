internal import CCachectlPlugin
public import StorageSPI
internal import Synchronization

/// Turns a Swift engine into a shared library that cachectl can load, in one line:
///
///     @c public func cachectl_plugin(_ abi: UInt32) -> UnsafeRawPointer? { PluginExport.table(of: MyPlugin(), abi) }
///
/// A library has one plugin. The functions in its table run each asynchronous call to its end on the host's calling
/// thread; they need no thread pool.
public enum PluginExport {
  /// The library's plugin and its table. C functions can only reach global state.
  private static let exported = Mutex<ExportedPlugin?>(nil)

  /// The table of `plugin`, as `cachectl_plugin.h` describes it; `nil` if the host asks for another version.
  ///
  /// The first call creates it, and it lives as long as the process; later calls return the same table.
  ///
  /// - Parameters:
  ///   - plugin: the plugin; only the first call evaluates it.
  ///   - abi: the version of the interface that the host passes.
  ///   - readsWait: whether a read may wait for a disk or a network. If so, the host calls it on a separate thread,
  ///     which costs some 20 microseconds. Pass `false` if the engine is `ImmediateReading`.
  public static func table(
    of plugin: @autoclosure () -> any StoragePlugin, _ abi: UInt32, readsWait: Bool = true
  ) -> UnsafeRawPointer? {
    guard abi == CACHECTL_PLUGIN_ABI else { return nil }
    let current = exported.withLock { exported in
      let current = exported ?? ExportedPlugin(plugin(), readsWait: readsWait)
      exported = current
      return current
    }
    return UnsafeRawPointer(current.table)
  }

  /// The library's plugin.
  ///
  /// - Throws: `CacheError` with the code `failed` before the first call of `table(of:_:readsWait:)`.
  static func plugin() throws(CacheError) -> any StoragePlugin {
    guard let exported = exported.withLock({ $0 }) else { throw CacheError(.failed, "the library has no plugin yet") }
    return exported.plugin
  }
}

/// A plugin and its table.
///
/// `@unchecked Sendable`: nothing writes to the table after its creation, and nothing frees it.
private struct ExportedPlugin: @unchecked Sendable {
  let plugin: any StoragePlugin
  let table: UnsafePointer<cachectl_engine>

  init(_ plugin: any StoragePlugin, readsWait: Bool) {
    self.plugin = plugin
    self.table = EngineTable.make(plugin.declaration, readsWait: readsWait)
  }
}
