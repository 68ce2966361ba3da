internal import CCachectlPlugin
internal import StorageSPI

/// Saves what can be read of a damaged store.
enum Repairing {
  static func repair(
    _ configuration: UnsafePointer<cachectl_configuration>?, _ plan: UnsafePointer<cachectl_repair>?,
    _ saved: UnsafeMutablePointer<UInt64>?
  ) throws(StorageError) -> Int32 {
    let plugin = try PluginExport.plugin()
    let configuration = try EngineConfiguration(configuration, for: plugin.declaration)
    guard let plan = plan?.pointee, let lost = plan.lost, let moved = plan.moved else {
      throw StorageError(.failed, "the plan of a repair is missing")
    }
    let repairPlan = try RepairPlan(plan)
    let report = try CallingThread.run { () async throws(StorageError) in
      try await plugin.repair(configuration, repairPlan)
    }
    saved?.pointee = UInt64(clamping: report.saved)
    let status = firstFailure(report.lost) { $0.lend { lost(plan.context, $0) } }
    if status != CACHECTL_OK.status { return status }
    return firstFailure(report.movedTo) { $0.lend { moved(plan.context, $0) } }
  }
}

extension RepairPlan {
  /// The plan that the host passes. It is used before the repair returns.
  fileprivate init(_ plan: cachectl_repair) throws(StorageError) {
    let judge = try Visitor(plan.is_sound, plan.context)
    self.init(suffix: plan.suffix.text) { key, payload, metadata in
      key.text.lend { key in
        payload.withUnsafeBufferPointer { judge(key: key, payload: cachectl_bytes($0), metadata) != 0 }
      }
    }
  }
}
