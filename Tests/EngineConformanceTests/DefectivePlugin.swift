import EngineAPI
import Synchronization
import TestStorage

/// A bug to put between the suite and an intact engine, and the checks that must find it.
///
/// Each function is at a place where bugs of engines occur; a function that is not given does nothing.
struct Defect: Sendable {
  let name: String
  let caughtBy: [String]
  /// Changes the declaration.
  var declaration: @Sendable (EngineDeclaration) -> EngineDeclaration = { $0 }
  /// Changes the path of a store that is opened, and the clock.
  var path: @Sendable (String) -> String = { $0 }
  var clock: @Sendable (any WallClock) -> any WallClock = { $0 }
  var opensAnything = false
  /// Does something to an engine that was opened.
  var onOpen: @Sendable (any StorageEngine, EngineConfiguration) async throws(CacheError) -> Void = { _, _ in }
  /// Changes a key on its way in, in all calls.
  var key: @Sendable (CacheKey) throws(CacheError) -> CacheKey = { $0 }
  /// Makes one batch into several, which are applied one after another.
  var batches: @Sendable (WriteBatch, any StorageEngine) async throws(CacheError) -> [WriteBatch] = { batch, _ in
    [batch]
  }
  /// Makes an error of a batch into another; `nil` makes it a success.
  var batchError: @Sendable (CacheError) -> CacheError? = { $0 }
  /// Changes the results of reads.
  var payload: @Sendable ([UInt8]) -> [UInt8] = { $0 }
  var metadata: @Sendable (EntryMetadata) -> EntryMetadata = { $0 }
  /// Changes the result of a read at once, before the other changes.
  var readNow: @Sendable (EntryTable.Entry?) -> EntryTable.Entry? = { $0 }
  /// Changes the paths that are reported for a store that was moved aside, and the content of the registry.
  var moving: @Sendable ([String], StoreRegistry) -> [String] = { moved, _ in moved }
  /// How often a read calls its closure, and whether it lets its errors through.
  var bodyCalls = 1
  var hidesReadErrors = false
  /// Does something to the store after a read.
  var onRead: @Sendable (any StorageEngine, CacheKey) async throws(CacheError) -> Void = { _, _ in }
  /// Makes a page.
  var page: @Sendable (ScanRequest, any StorageEngine) async throws(CacheError) -> ScanPage = {
    request, base throws(CacheError) in
    try await base.scan(request)
  }
  /// Changes the count, and the result of a check.
  var count: @Sendable (StoreCount, any StorageEngine, Timestamp) async throws(CacheError) -> StoreCount = {
    count, _, _ in count
  }
  var issues: @Sendable ([IntegrityIssue]) -> [IntegrityIssue] = { $0 }
  var compacts = true
  /// Changes the change count, given the calls of the handle.
  var changeCount: @Sendable (UInt64, HandleCalls) -> UInt64? = { count, _ in count }
  /// Changes a change mark, which is the change count.
  var mark: @Sendable (ChangeMark) -> ChangeMark? = { $0 }
  /// Whether a batch waits a little after it was counted as begun, and whether changes are counted after closing.
  var countsEarly = false
  var countsWhenClosed = false
  /// Whether a second call of close fails, and whether calls after closing succeed.
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

/// An intact engine with one bug.
struct DefectivePlugin: StoragePlugin {
  let defect: Defect
  private let intact = RegistryPlugin()

  init(_ defect: Defect) { self.defect = defect }

  var declaration: EngineDeclaration {
    let inner = intact.declaration
    return defect.declaration(inner.with(inner.capabilities.union([.followsChanges])))
  }

  func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
    let path = defect.path(try configuration.text("path"))
    if path.hasPrefix("/dev/null"), !defect.opensAnything {
      throw CacheError(.cannotCreate, "no store can be made at \(path)")
    }
    let engine = RegistryEngine(registry: intact.registry, path: path, clock: defect.clock(configuration.clock))
    try await defect.onOpen(engine, configuration)
    return DefectiveEngine(engine, defect, configuration.clock)
  }

  func removeStore(
    _ configuration: EngineConfiguration, movingAside suffix: String?
  ) async throws(CacheError) -> [String] {
    defect.moving(try await intact.removeStore(configuration, movingAside: suffix), intact.registry)
  }
}

/// A handle of an intact engine with one bug.
final class DefectiveEngine: StorageEngine {
  private let base: any StorageEngine
  private let calls = Mutex(HandleCalls())
  private let defect: Defect
  private let clock: any WallClock
  private let closings = Atomic(0)

  init(_ base: any StorageEngine, _ defect: Defect, _ clock: any WallClock) {
    self.base = base
    self.defect = defect
    self.clock = clock
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

  func readNow(
    _ key: Span<UInt8>, _ body: (Span<UInt8>, EntryMetadata) throws(CacheError) -> Void
  ) throws(CacheError) -> Bool? {
    let name = Array(try defect.key(CacheKey(trusting: key)).text.utf8)
    var found: EntryTable.Entry?
    _ = try base.readNow(name.span) { bytes, metadata in
      found = EntryTable.Entry(payload: bytes.withUnsafeBufferPointer { Array($0) }, metadata: metadata)
    }
    guard let entry = defect.readNow(found) else { return false }
    let payload = defect.payload(entry.payload)
    try body(payload.span, defect.metadata(entry.metadata))
    return true
  }

  func apply(_ batch: WriteBatch) async throws(CacheError) {
    var renamed = WriteBatch()
    renamed.bounds = batch.bounds
    for operation in batch.operations { renamed.add(operation, under: try defect.key(operation.key)) }
    calls.withLock { $0.begun += 1 }
    defer { calls.withLock { $0.batches += 1 } }
    if defect.countsEarly { for _ in 0..<3 { await Task.yield() } }
    do {
      for (number, part) in try await defect.batches(renamed, base).enumerated() {
        // Others run between the parts. So they see a state that they must not see.
        if number > 0 { await Task.yield() }
        try await base.apply(part)
      }
    } catch {
      if let changed = defect.batchError(error) { throw changed }
    }
  }

  func changeCount() throws(CacheError) -> UInt64? {
    let calls = calls.withLock { $0 }
    do {
      guard let count = try base.changeCount() else { return nil }
      return defect.changeCount(count, calls)
    } catch {
      guard defect.countsWhenClosed else { throw error }
      return 0
    }
  }

  func changeMark(of key: CacheKey) -> ChangeMark? {
    guard let count = try? base.changeCount() else { return nil }
    return defect.mark(ChangeMark(number: count, age: .zero))
  }

  func scan(_ request: ScanRequest) async throws(CacheError) -> ScanPage {
    var page = try await defect.page(request, base)
    page.entries = page.entries.map { entry in
      let metadata = defect.metadata(entry.metadata)
      if let payload = entry.payload {
        return ScannedEntry(key: entry.key, metadata: metadata, payload: defect.payload(payload))
      }
      return ScannedEntry(key: entry.key, metadata: metadata, payloadBytes: entry.payloadBytes)
    }
    return page
  }

  func count() async throws(CacheError) -> StoreCount {
    try await defect.count(try await base.count(), base, clock.now)
  }

  func check() async throws(CacheError) -> [IntegrityIssue] { defect.issues(try await base.check()) }

  func compact() async throws(CacheError) {
    if defect.compacts { try await base.compact() } else { _ = try await base.count() }
  }

  func close() async throws(CacheError) {
    let before = closings.wrappingAdd(1, ordering: .sequentiallyConsistent).oldValue
    if defect.closesOnce, before > 0 { throw .storeClosed }
    if !defect.forgetsClosing { try await base.close() }
  }
}

extension WriteBatch {
  /// A batch of `operations` with the given bounds.
  init(_ operations: [Operation], within bounds: StoreBounds?) {
    self.init()
    self.bounds = bounds
    for operation in operations { add(operation, under: operation.key) }
  }

  /// A batch that puts an empty entry under `key`.
  static func putting(_ key: String) throws(CacheError) -> WriteBatch {
    var batch = WriteBatch()
    let metadata = EntryMetadata(
      storedAt: .distantFuture, freshUntil: .distantFuture, retainUntil: .distantFuture, contentType: "")
    batch.put(try CacheKey(key), payload: [], metadata: metadata)
    return batch
  }

  fileprivate mutating func add(_ operation: Operation, under key: CacheKey) {
    switch operation {
    case .put(_, let payload, let metadata): put(key, payload: payload, metadata: metadata)
    case .update(_, let metadata, let checksum): update(key, metadata: metadata, from: checksum)
    case .remove: remove(key)
    case .require(_, let expectation): require(key, expectation)
    }
  }
}

extension WriteBatch.Operation {
  var key: CacheKey {
    switch self {
    case .put(let key, _, _), .update(let key, _, _), .remove(let key), .require(let key, _): key
    }
  }

  var isRemoval: Bool { if case .remove = self { true } else { false } }
  var isRequirement: Bool { if case .require = self { true } else { false } }
  var isUpdate: Bool { if case .update = self { true } else { false } }
}
