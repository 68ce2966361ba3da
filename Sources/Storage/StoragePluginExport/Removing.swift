internal import CCachectlPlugin
internal import StorageSPI

/// Removes a store.
enum Removing {
  /// Removes a store, whatever its state.
  static func removeStore(_ configuration: UnsafePointer<cachectl_configuration>?) throws(CacheError) -> Int32 {
    let (plugin, host) = (try PluginExport.plugin(), HostCall(configuration))
    let configuration = try EngineConfiguration(configuration, for: plugin.declaration)
    try CallingThread.run(host) { _ async throws(CacheError) in
      _ = try await plugin.removeStore(configuration, movingAside: nil)
    }
    return CACHECTL_OK.status
  }
}
