internal import CCachectlPlugin
public import StorageSPI
internal import Synchronization

/// Makes a Swift engine a shared library that cachectl loads, in one line:
///
///     @c public func cachectl_plugin(_ abi: UInt32) -> UnsafeRawPointer? { PluginExport.table(of: MyPlugin(), abi) }
///
/// A library has one plugin. The functions of its table run each asynchronous call to its end on the thread on which
/// the host calls them; no thread pool has to be there.
public enum PluginExport {
  /// The plugin of this library, and its table. C functions know of nothing but what is global.
  private static let exported = Mutex<ExportedPlugin?>(nil)

  /// The table of `plugin`, as `cachectl_plugin.h` describes it; `nil` where the host asks for another version.
  ///
  /// It is made by the first call and lives as long as the process; later calls return it again.
  ///
  /// - Parameters:
  ///   - plugin: the plugin, which is only made once.
  ///   - abi: the version of the host's interface, as the host passes it.
  ///   - readsWait: whether a read may wait for a disk or a network. If so, the host calls it on a thread of its own,
  ///     which costs some 20 microseconds. Say `false` where the engine is one of `ImmediateReading`.
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

  /// The plugin of this library.
  ///
  /// - Throws: `StorageError` with the code `failed` before the first call of `table(of:_:readsWait:)`.
  static func plugin() throws(StorageError) -> any StoragePlugin {
    guard let exported = exported.withLock({ $0 }) else { throw StorageError(.failed, "the library has no plugin yet") }
    return exported.plugin
  }
}

/// A plugin and the table made of it.
///
/// `@unchecked Sendable`: nothing writes to the table once it is made, and nothing frees it.
private struct ExportedPlugin: @unchecked Sendable {
  let plugin: any StoragePlugin
  let table: UnsafePointer<cachectl_engine>

  init(_ plugin: any StoragePlugin, readsWait: Bool) {
    self.plugin = plugin
    self.table = EngineTable.make(plugin.declaration, readsWait: readsWait)
  }
}
