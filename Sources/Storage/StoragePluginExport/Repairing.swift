internal import CCachectlPlugin
internal import StorageSPI
internal import Synchronization

/// Repairs a store, previews a repair, or removes the store.
enum Repairing {
  typealias Repair =
    @Sendable (any StoragePlugin, EngineConfiguration, RepairPlan) async throws(CacheError) -> RepairReport

  /// Calls `repair`, and passes its report on to the host.
  static func report(
    _ configuration: UnsafePointer<cachectl_configuration>?, _ plan: UnsafePointer<cachectl_repair>?,
    _ saved: UnsafeMutablePointer<UInt64>?, _ repair: @escaping Repair
  ) throws(CacheError) -> Int32 {
    let (plugin, host) = (try PluginExport.plugin(), HostCall(configuration))
    let configuration = try EngineConfiguration(configuration, for: plugin.declaration)
    guard let plan = plan.map({ copy(of: $0, cachectl_repair()) }), let lost = plan.lost, let moved = plan.moved else {
      throw CacheError(.failed, "the plan of a repair is missing")
    }
    let (suffix, judge) = (plan.suffix.text, try Visitor(plan.is_sound, plan.context))
    let report = try CallingThread.run(host) { thread async throws(CacheError) in
      try await repair(plugin, configuration, RepairPlan(suffix: suffix, judge, on: thread))
    }
    saved?.pointee = UInt64(clamping: report.saved)
    let status = firstFailure(report.lost) { $0.lend { lost(plan.context, $0) } }
    if status != CACHECTL_OK.status { return status }
    let mended = plan.mended ?? lost
    let outcome = firstFailure(report.mended) { $0.lend { mended(plan.context, $0) } }
    if outcome != CACHECTL_OK.status { return outcome }
    return firstFailure(report.movedTo) { $0.lend { moved(plan.context, $0) } }
  }

  /// Removes a store, whatever its state.
  static func removeStore(_ configuration: UnsafePointer<cachectl_configuration>?) throws(CacheError) -> Int32 {
    let (plugin, host) = (try PluginExport.plugin(), HostCall(configuration))
    let configuration = try EngineConfiguration(configuration, for: plugin.declaration)
    try CallingThread.run(host) { _ async throws(CacheError) in try await plugin.removeStore(configuration) }
    return CACHECTL_OK.status
  }
}

extension RepairPlan {
  /// A plan that lets the host judge the entries, always on the thread of its call.
  fileprivate init(suffix: String, _ judge: Visitor<cachectl_visit_entry>, on thread: CallingThread) {
    self.init(suffix: suffix) { key, payload, metadata in
      payload.withUnsafeBufferPointer { payload in
        let lent = LentPayload(bytes: cachectl_bytes(payload))
        let isSound = Atomic(false)
        thread.perform {
          let answer = key.text.lend { judge(key: $0, payload: lent.bytes, metadata) }
          isSound.store(answer != 0, ordering: .relaxed)
        }
        return isSound.load(ordering: .relaxed)
      }
    }
  }
}

/// A payload lent to another thread.
///
/// `@unchecked Sendable`: it is only read, and the lending thread waits meanwhile.
private struct LentPayload: @unchecked Sendable {
  let bytes: cachectl_bytes
}
