import EngineSupport
import StorageConformance
import StorageSPI
import Synchronization

/// An engine of a test's own: what it finds, what it opens and what it repairs.
final class FakePlugin: StoragePlugin {
  /// What the calls do; an engine of `store` where nothing else is said.
  struct Behaviour: Sendable {
    var inspection: StoreInspection?
    var failure: CacheError?
    var openingFailure: CacheError?
    var repairs = true
  }

  let declaration: EngineDeclaration
  private let behaviour: Mutex<Behaviour>
  private let store: any StorageEngine
  private let calls = Mutex<[String]>([])

  init(
    _ name: String, capabilities: Set<EngineCapability> = [.persistent], options: [EngineOption] = [],
    store: any StorageEngine, _ behaviour: Behaviour = Behaviour()
  ) {
    declaration = EngineDeclaration(
      name: name, version: "1", summary: "for tests", capabilities: capabilities, options: options)
    self.behaviour = Mutex(behaviour)
    self.store = store
  }

  /// What was called, in order, with the suffixes of repairs.
  var log: [String] { calls.withLock { $0 } }

  private func note(_ call: String) -> Behaviour {
    calls.withLock { $0.append(call) }
    return behaviour.withLock { $0 }
  }

  func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
    if let failure = note("open").openingFailure { throw failure }
    return store
  }

  func inspect(_ configuration: EngineConfiguration) async throws(CacheError) -> StoreInspection {
    let behaviour = note("inspect")
    if let failure = behaviour.failure { throw failure }
    guard let inspection = behaviour.inspection else { throw CacheError(.unsupported, "cannot look") }
    return inspection
  }

  /// Heals the store.
  func repair(_ configuration: EngineConfiguration, _ plan: RepairPlan) async throws(CacheError) -> RepairReport {
    let behaviour = note("repair \(plan.suffix)")
    guard behaviour.repairs else { throw CacheError(.unsupported, "backend cannot repair a store") }
    self.behaviour.withLock { $0.openingFailure = nil }
    let key = try CacheKey("cities/v1/lost")
    return RepairReport(
      saved: 3, lost: [IntegrityIssue(key: key, kind: .undecodable, message: "cut off")],
      movedTo: ["/home/store\(plan.suffix)"])
  }
}

/// An engine over a table in memory, with entries stored at given times.
func storeEngine(storedAt times: [Timestamp] = [], clock: ManualClock) async throws -> any StorageEngine {
  let engine = TableEngine()
  var batch = WriteBatch()
  for (number, time) in times.enumerated() {
    batch.put(
      try CacheKey("cities/v1/page=\(number)"), payload: [1, 2, 3],
      metadata: EntryMetadata(
        storedAt: time, freshUntil: .distantFuture, retainUntil: .distantFuture, contentType: "text/plain"))
  }
  try await engine.apply(batch)
  return engine
}

/// The smallest engine: a table under a lock.
final class TableEngine: StorageEngine {
  private let table = Mutex(EntryTable())
  private let closings = Mutex(0)
  private let isForgetful: Bool

  /// - Parameter isForgetful: whether it finds no entry by its key.
  init(isForgetful: Bool = false) { self.isForgetful = isForgetful }

  /// How often it was closed.
  var closeCount: Int { closings.withLock { $0 } }

  func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? {
    guard !isForgetful, let entry = table.withLock({ $0[key] }) else { return nil }
    return try body(entry.payload.span, entry.metadata)
  }

  func apply(_ batch: WriteBatch) async throws(CacheError) {
    try table.withLock { table throws(CacheError) in try table.apply(batch) }
  }

  func scan(_ range: KeyRange, limit: Int) async throws(CacheError) -> [EntrySummary] {
    table.withLock { $0.scan(range, limit: limit) }
  }

  func statistics() async throws(CacheError) -> StorageStatistics {
    table.withLock { StorageStatistics(tally: $0.tally, storageBytes: 0) }
  }

  func checkIntegrity() async throws(CacheError) -> [IntegrityIssue] { [] }
  func compact() async throws(CacheError) {}
  func close() async throws(CacheError) { closings.withLock { $0 += 1 } }
}
