internal import CCachectlPlugin
public import StorageSPI

/// Makes a Swift engine a shared library that cachectl loads, in one line:
///
///     @c public func cachectl_plugin(_ abi: UInt32) -> UnsafeRawPointer? { PluginExport.table(of: MyPlugin(), abi) }
public enum PluginExport {
  /// The table of `plugin`, as `cachectl_plugin.h` describes it; `nil` where the host asks for another version.
  public static func table(of plugin: any StoragePlugin, _ abi: UInt32) -> UnsafeRawPointer? {
    nil
  }
}
