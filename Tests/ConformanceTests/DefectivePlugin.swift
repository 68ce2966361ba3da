import StorageSPI
import Synchronization
import TestStorage

/// A bug to put between the suite and a sound engine, and the checks that must find it.
///
/// Each function stands where an engine could go wrong; a function that is not given does nothing.
struct Defect: Sendable {
  let name: String
  let caughtBy: [String]
  /// Changes what is declared.
  var declaration: @Sendable (EngineDeclaration) -> EngineDeclaration = { $0 }
  /// Changes the path of a store that is opened, and the clock.
  var path: @Sendable (String) -> String = { $0 }
  var clock: @Sendable (any WallClock) -> any WallClock = { $0 }
  var opensAnything = false
  /// What is done with an engine that was opened.
  var onOpen: @Sendable (any StorageEngine, EngineConfiguration) async throws(CacheError) -> Void = { _, _ in }
  /// Changes a key on its way in, in all calls.
  var key: @Sendable (CacheKey) throws(CacheError) -> CacheKey = { $0 }
  /// Changes the bounds of a batch on their way in.
  var bounds: @Sendable (StoreBounds?) -> StoreBounds? = { $0 }
  /// Makes one batch into several, which are applied one after another.
  var batches: @Sendable (WriteBatch) -> [WriteBatch] = { [$0] }
  /// Makes an error of a batch into another; `nil` makes it a success.
  var batchError: @Sendable (CacheError) -> CacheError? = { $0 }
  /// Changes the order of eviction, the number of evictions that is returned, and the uses that are added.
  var order: @Sendable (EvictionOrder) -> EvictionOrder = { $0 }
  var evictions: @Sendable (Int) -> Int = { $0 }
  var uses: @Sendable ([EntryUse]) -> [EntryUse] = { $0 }
  /// Changes what a read lends.
  var payload: @Sendable ([UInt8]) -> [UInt8] = { $0 }
  var metadata: @Sendable (EntryMetadata) -> EntryMetadata = { $0 }
  /// Changes where a store is said to be that was moved aside, and what is there.
  var moving: @Sendable ([String], StoreRegistry) -> [String] = { moved, _ in moved }
  /// How often a read calls its closure, and whether it lets its errors through.
  var bodyCalls = 1
  var hidesReadErrors = false
  /// Changes what several reads at once give.
  var batchReads: @Sendable ([Result<ReadEntry?, CacheError>]) -> [Result<ReadEntry?, CacheError>] = { $0 }
  /// What a read does to the store.
  var onRead: @Sendable (any StorageEngine, CacheKey) async throws(CacheError) -> Void = { _, _ in }
  /// Changes which keys a scan visits, and what it returns.
  var range: @Sendable (KeyRange) -> KeyRange = { $0 }
  var limit: @Sendable (Int) -> Int = { $0 }
  var summaries: @Sendable ([EntrySummary], KeyRange) -> [EntrySummary] = { summaries, _ in summaries }
  /// Changes the statistics, and what an integrity check finds.
  var statistics: @Sendable (StorageStatistics) -> StorageStatistics = { $0 }
  var issues: @Sendable ([IntegrityIssue]) -> [IntegrityIssue] = { $0 }
  var compacts = true
  /// Changes the change count, given what is counted for each handle by itself, and what else is counted with changes.
  var changeCount: @Sendable (UInt64, HandleCalls) -> UInt64? = { count, _ in count }
  /// Changes a change mark, which is the change count.
  var mark: @Sendable (ChangeMark) -> ChangeMark? = { $0 }
  /// Whether a batch waits a little after it was counted as begun, and whether changes are counted after closing.
  var countsEarly = false
  var countsWhenClosed = false
  /// What becomes of a second call of close, and of calls afterwards.
  var closesOnce = false
  var forgetsClosing = false
}

/// How often a handle was called.
struct HandleCalls: Sendable {
  var reads: UInt64 = 0
  var batches: UInt64 = 0
  /// Batches that have begun, whether they have ended or not.
  var begun: UInt64 = 0
}

/// A sound engine with one bug.
struct DefectivePlugin: StoragePlugin {
  let defect: Defect
  private let sound = RegistryPlugin()

  init(_ defect: Defect) { self.defect = defect }

  var declaration: EngineDeclaration { defect.declaration(sound.declaration) }

  func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
    let path = defect.path(try configuration.text("path"))
    if path.hasPrefix("/dev/null"), !defect.opensAnything {
      throw CacheError(.cannotCreate, "no store can be made at \(path)")
    }
    let engine = RegistryEngine(registry: sound.registry, path: path, clock: defect.clock(configuration.clock))
    try await defect.onOpen(engine, configuration)
    return DefectiveEngine(engine, defect)
  }
}

extension DefectivePlugin {
  func removeStore(
    _ configuration: EngineConfiguration, movingAside suffix: String?
  ) async throws(CacheError) -> [String] {
    defect.moving(try await sound.removeStore(configuration, movingAside: suffix), sound.registry)
  }
}

/// A handle of a sound engine with one bug.
final class DefectiveEngine: ChangeCounting, ChangeFollowing, Evicting, BatchReading {
  private let base: any StorageEngine
  private let calls = Mutex(HandleCalls())
  private let defect: Defect
  private let closings = Atomic(0)

  init(_ base: any StorageEngine, _ defect: Defect) {
    self.base = base
    self.defect = defect
  }

  func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? {
    let (key, defect) = (try defect.key(key), defect)
    calls.withLock { $0.reads += 1 }
    do {
      let output = try await base.read(key) { bytes, metadata throws(CacheError) -> Output in
        let payload = defect.payload(bytes.withUnsafeBufferPointer { Array($0) })
        for _ in 1..<max(defect.bodyCalls, 1) { _ = try body(payload.span, defect.metadata(metadata)) }
        return try body(payload.span, defect.metadata(metadata))
      }
      try await defect.onRead(base, key)
      return output
    } catch {
      guard defect.hidesReadErrors else { throw error }
      return nil
    }
  }

  func read(_ keys: [CacheKey]) async throws(CacheError) -> [Result<ReadEntry?, CacheError>] {
    var results: [Result<ReadEntry?, CacheError>] = []
    for key in keys {
      let entry = try await read(key) { bytes, metadata in
        ReadEntry(payload: bytes.withUnsafeBufferPointer { Array($0) }, metadata: metadata)
      }
      results.append(.success(entry))
    }
    return defect.batchReads(results)
  }

  func apply(_ batch: WriteBatch) async throws(CacheError) {
    try await change(batch) { base, part throws(CacheError) in try await base.apply(part) }
  }

  func apply(_ batch: WriteBatch, evicting order: EvictionOrder) async throws(CacheError) -> Int {
    var evicted = 0
    try await change(batch) { base, part throws(CacheError) in
      evicted += try await base.evictor?.apply(part, evicting: defect.order(order)) ?? 0
    }
    return defect.evictions(evicted)
  }

  func add(_ uses: [EntryUse]) async throws(CacheError) {
    try await base.evictor?.add(defect.uses(uses))
  }

  private func change(
    _ batch: WriteBatch, _ apply: (any StorageEngine, WriteBatch) async throws(CacheError) -> Void
  ) async throws(CacheError) {
    var renamed = WriteBatch()
    renamed.bounds = defect.bounds(batch.bounds)
    for operation in batch.operations {
      switch operation {
      case .put(let key, let payload, let metadata):
        renamed.put(try defect.key(key), payload: payload, metadata: metadata)
      case .remove(let key): renamed.remove(try defect.key(key))
      case .require(let key, let expectation): renamed.require(try defect.key(key), expectation)
      }
    }
    calls.withLock { $0.begun += 1 }
    defer { calls.withLock { $0.batches += 1 } }
    if defect.countsEarly { for _ in 0..<3 { await Task.yield() } }
    do {
      for (number, part) in defect.batches(renamed).enumerated() {
        // Others get their turn between the parts, so that they see what they should not.
        if number > 0 { await Task.yield() }
        try await apply(base, part)
      }
    } catch {
      if let changed = defect.batchError(error) { throw changed }
    }
  }

  func changeCount() throws(CacheError) -> UInt64? {
    let calls = calls.withLock { $0 }
    do {
      guard let count = try base.changeCounter?.changeCount() else { return nil }
      return defect.changeCount(count, calls)
    } catch {
      guard defect.countsWhenClosed else { throw error }
      return 0
    }
  }

  func changeMark(of key: CacheKey) -> ChangeMark? {
    guard let count = try? base.changeCounter?.changeCount() else { return nil }
    return defect.mark(ChangeMark(number: count, age: .zero))
  }

  func scan(_ range: KeyRange, limit: Int) async throws(CacheError) -> [EntrySummary] {
    let found = try await base.scan(defect.range(range), limit: defect.limit(limit))
    return defect.summaries(found, range).map {
      EntrySummary(key: $0.key, metadata: defect.metadata($0.metadata), payloadBytes: $0.payloadBytes)
    }
  }

  func statistics() async throws(CacheError) -> StorageStatistics {
    defect.statistics(try await base.statistics())
  }

  func checkIntegrity() async throws(CacheError) -> [IntegrityIssue] {
    defect.issues(try await base.checkIntegrity())
  }

  func compact() async throws(CacheError) {
    if defect.compacts { try await base.compact() } else { _ = try await base.statistics() }
  }

  func close() async throws(CacheError) {
    let before = closings.wrappingAdd(1, ordering: .sequentiallyConsistent).oldValue
    if defect.closesOnce, before > 0 { throw .storeClosed }
    if !defect.forgetsClosing { try await base.close() }
  }
}
