import EngineSupport
import StorageSPI
import Synchronization
import TestStorage

/// An engine whose preview of a repair finds the given entries, or fails. Its store is opened as the test says, by
/// default not at all.
final class DamagedPlugin: StoragePlugin {
  let declaration = EngineDeclaration(
    name: "damaged", version: "1", summary: "a damaged store", capabilities: [.persistent], options: [])
  private struct State {
    var versions: [(CacheKey, EntryTable.Entry)]
    var passes = 0
    var failure: CacheError?
  }

  private let state: Mutex<State>
  private let lost: [IntegrityIssue]
  private let engine: (any StorageEngine)?

  init(
    _ versions: [(CacheKey, EntryTable.Entry)], lost: [IntegrityIssue] = [], failure: CacheError? = nil,
    opening engine: (any StorageEngine)? = nil
  ) {
    state = Mutex(State(versions: versions, failure: failure))
    (self.lost, self.engine) = (lost, engine)
  }

  /// How often the store was searched.
  var passes: Int { state.withLock { $0.passes } }

  func removeAll() { state.withLock { $0.versions = [] } }

  /// Makes previews succeed from now on.
  func recover() { state.withLock { $0.failure = nil } }

  func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
    guard let engine else { throw CacheError(.damaged, "the store is damaged") }
    return engine
  }

  func previewRepair(
    _ configuration: EngineConfiguration, _ plan: RepairPlan
  ) async throws(CacheError) -> RepairReport {
    if let failure = state.withLock({ $0.failure }) { throw failure }
    let versions = state.withLock { state in
      state.passes += 1
      return state.versions
    }
    let saved = versions.count { plan.isSound($0.0, $0.1.payload.span, $0.1.metadata) }
    return RepairReport(saved: saved, lost: lost)
  }
}
