import EngineAPI
import Synchronization
import TestStorage

/// An engine of a test's own: what it finds, what it opens and what it repairs.
final class FakePlugin: StoragePlugin {
  /// What the calls do; where nothing else is said, they use the store.
  struct Behaviour: Sendable {
    var inspection: StoreInspection?
    var failure: CacheError?
    var openingFailure: CacheError?
    var removalFailure: CacheError?
    /// When the entries of the store were stored.
    var times: [Timestamp] = []
    /// How engines misbehave.
    var faults = Faults()
  }

  let declaration: EngineDeclaration
  private let behaviour: Mutex<Behaviour>
  private let registry = StoreRegistry()
  private let calls = Mutex<[String]>([])

  init(
    _ name: String, capabilities: Set<EngineCapability> = [.persistent, .bounded], options: [EngineOption] = [],
    _ behaviour: Behaviour = Behaviour()
  ) {
    declaration = EngineDeclaration(
      name: name, version: "1", summary: "for tests", capabilities: capabilities, options: options)
    self.behaviour = Mutex(behaviour)
  }

  /// What was called, in order, with the suffixes of repairs.
  var log: [String] { calls.withLock { $0 } }

  private func note(_ call: String) -> Behaviour {
    calls.withLock { $0.append(call) }
    return behaviour.withLock { $0 }
  }

  func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
    let behaviour = note("open")
    if let failure = behaviour.openingFailure { throw failure }
    let store = RegistryEngine(registry: registry, clock: configuration.clock)
    try await store.apply(try .storing(at: behaviour.times))
    var faults = behaviour.faults
    faults.after = { [self] call, _ throws(CacheError) in
      if case .close = call { _ = note("close") }
    }
    return FaultyEngine(over: store, faults)
  }

  func removeStore(
    _ configuration: EngineConfiguration, movingAside suffix: String?
  ) async throws(CacheError) -> [String] {
    throw note("remove").removalFailure ?? CacheError(.unsupported, "cannot remove")
  }

  func inspect(_ configuration: EngineConfiguration) async throws(CacheError) -> StoreInspection {
    let behaviour = note("inspect")
    if let failure = behaviour.failure { throw failure }
    guard let inspection = behaviour.inspection else { throw CacheError(.unsupported, "cannot look") }
    return inspection
  }
}

extension WriteBatch {
  /// A batch of entries that were stored at `times`.
  fileprivate static func storing(at times: [Timestamp]) throws(CacheError) -> WriteBatch {
    var batch = WriteBatch()
    for (number, time) in times.enumerated() {
      batch.put(
        try CacheKey("cities/v1/page=\(number)"), payload: [1, 2, 3],
        metadata: EntryMetadata(
          storedAt: time, freshUntil: .distantFuture, retainUntil: .distantFuture, contentType: "text/plain"))
    }
    return batch
  }
}
