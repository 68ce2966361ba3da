internal import CCachectlPlugin
internal import StorageSPI

/// Inspects a store without opening it.
enum Inspecting {
  static func inspect(
    _ configuration: UnsafePointer<cachectl_configuration>?, _ visitor: Visitor<cachectl_visit_inspection>
  ) throws(CacheError) -> Int32 {
    let (plugin, host) = (try PluginExport.plugin(), HostCall(configuration))
    let configuration = try EngineConfiguration(configuration, for: plugin.declaration)
    let found = try CallingThread.run(host) { _ async throws(CacheError) in try await plugin.inspect(configuration) }
    return found.lend { visitor.visit(visitor.context, $0) }
  }
}

extension StoreInspection {
  /// Lends the inspection for the duration of the call.
  fileprivate func lend(_ body: (UnsafePointer<cachectl_inspection>) -> Int32) -> Int32 {
    path.lend { path in
      StoragePluginExport.lend(files) { files in
        (hiddenDamage ?? "").lend { damage in
          files.withUnsafeBufferPointer { files in
            var lent = cachectl_inspection(
              size: MemoryLayout<cachectl_inspection>.size, path: path, files: files.baseAddress,
              file_count: files.count, format: Int64(format ?? -1), current_format: Int64(currentFormat),
              presence: (exists ? CACHECTL_PRESENT : CACHECTL_ABSENT).rawValue, hidden_damage: damage)
            return withUnsafePointer(to: &lent, body)
          }
        }
      }
    }
  }
}
