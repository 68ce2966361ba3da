import EngineSupport
import StorageSPI
import Synchronization

/// An engine for tests of the harness: it keeps its stores by path as long as the plugin lives, and lies on demand.
final class TestPlugin: StoragePlugin {
  /// A way to lie or to fail.
  enum Fault: String, Sendable, CaseIterable {
    case none, wrongBytes, truncated, lost, stale, wrongMetadata, lostWrite, keepsExpired, dropsKept, shortScan
    case unorderedScan, inventedInScan, wrongCount, failsToRead, failsToOpen, claimsCancellation
  }

  let declaration: EngineDeclaration
  let fault: Fault
  /// From which read on the engine lies.
  let firstLie: Int
  let log = CallLog()
  /// The keys that were read.
  let reads = CallLog()
  private let stores = Mutex<[String: TestStore]>([:])

  /// - Parameter isNamed: whether a store is known by a name, as on a server, and not by a path.
  init(
    _ name: String = "test", fault: Fault = .none, firstLie: Int = 1, capabilities: Set<EngineCapability> = [],
    isNamed: Bool = false
  ) {
    declaration = EngineDeclaration(
      name: name, version: "2.5", summary: "an engine for tests",
      capabilities: capabilities.union([.persistent, .atomicBatches]),
      options: [EngineOption("path", isNamed ? .storeName : .path, help: "the store", isRequired: true), .durability])
    (self.fault, self.firstLie) = (fault, firstLie)
  }

  /// The keys in each store.
  var keys: [String: [String]] {
    stores.withLock { $0.mapValues { store in store.state.withLock { $0.table.entries.keys.map(\.text).sorted() } } }
  }

  func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
    if fault == .failsToOpen { throw CacheError(.unreachable, "the server is away") }
    let path = try configuration.text("path")
    log.add("\(declaration.name) open \(try configuration.durability().rawValue) \(path)")
    let store = stores.withLock { stores in
      let store = stores[path] ?? TestStore()
      stores[path] = store
      return store
    }
    return TestEngine(self, store, clock: configuration.clock)
  }
}

/// What was called, in order.
final class CallLog: Sendable {
  private let lines = Mutex<[String]>([])
  var all: [String] { lines.withLock { $0 } }
  func add(_ line: String) { lines.withLock { $0.append(line) } }
}

/// A table, what was in it before the last batch, and the number of reads.
final class TestStore: Sendable {
  let state = Mutex((table: EntryTable(), before: EntryTable(), reads: 0))
}

final class TestEngine: StorageEngine {
  private let plugin: TestPlugin
  private let store: TestStore
  private let clock: any WallClock
  private let isClosed = Mutex(false)

  init(_ plugin: TestPlugin, _ store: TestStore, clock: any WallClock) {
    (self.plugin, self.store, self.clock) = (plugin, store, clock)
  }

  func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? {
    try requireOpen()
    plugin.reads.add(key.text)
    let fault = plugin.fault
    let (entry, old, isLie) = store.state.withLock { state in
      state.reads += 1
      return (state.table[key], state.before[key], state.reads >= plugin.firstLie)
    }
    guard let entry else { return nil }
    guard isLie else { return try lend(entry, body) }
    switch fault {
    case .failsToRead: throw CacheError(.ioFailed, "the disk is gone")
    case .claimsCancellation: throw CacheError(.cancelled, "the task was cancelled")
    case .lost: return nil
    case .stale: return try lend(old ?? entry, body)
    case .wrongBytes: return try lend(changed(entry) { $0[$0.count / 2] ^= 1 }, body)
    case .truncated: return try lend(changed(entry) { $0.removeLast() }, body)
    case .wrongMetadata:
      var metadata = entry.metadata
      metadata.retainUntil = metadata.retainUntil.advanced(by: .milliseconds(1))
      return try lend(EntryTable.Entry(payload: entry.payload, metadata: metadata), body)
    default: return try lend(entry, body)
    }
  }

  func apply(_ batch: WriteBatch) async throws(CacheError) {
    try requireOpen()
    try store.state.withLock { state throws(CacheError) in
      let before = state.table
      try state.table.apply(batch)
      state.before = before
      guard plugin.fault == .lostWrite, case .put(let key, _, _)? = batch.operations.last else { return }
      var removal = WriteBatch()
      removal.remove(key)
      try state.table.apply(removal)
    }
  }

  func scan(_ range: KeyRange, limit: Int) async throws(CacheError) -> [EntrySummary] {
    try requireOpen()
    var summaries = store.state.withLock { $0.table.scan(range, limit: limit) }
    switch plugin.fault {
    case .shortScan where summaries.count > 2: summaries.remove(at: 1)
    case .unorderedScan where summaries.count > 1: summaries.swapAt(0, 1)
    case .inventedInScan:
      if let one = summaries.first {
        summaries[0] = EntrySummary(key: one.key, metadata: one.metadata, payloadBytes: one.payloadBytes + 1)
      }
    default: break
    }
    return summaries
  }

  func statistics() async throws(CacheError) -> StorageStatistics {
    try requireOpen()
    var tally = store.state.withLock { $0.table.tally }
    if plugin.fault == .wrongCount {
      tally = EntryTable().tally
    }
    return StorageStatistics(tally: tally, storageBytes: 4_096)
  }

  func checkIntegrity() async throws(CacheError) -> [IntegrityIssue] { [] }

  func compact() async throws(CacheError) {
    try requireOpen()
    guard plugin.fault != .keepsExpired else { return }
    let now = plugin.fault == .dropsKept ? Timestamp.distantFuture : clock.now
    store.state.withLock { _ = $0.table.removeExpired(at: now) }
  }

  func close() async throws(CacheError) {
    isClosed.withLock { $0 = true }
    plugin.log.add("\(plugin.declaration.name) close")
  }

  private func requireOpen() throws(CacheError) {
    if isClosed.withLock({ $0 }) { throw .storeClosed }
  }

  private func changed(_ entry: EntryTable.Entry, _ change: (inout [UInt8]) -> Void) -> EntryTable.Entry {
    var payload = entry.payload
    if !payload.isEmpty { change(&payload) }
    return EntryTable.Entry(payload: payload, metadata: entry.metadata)
  }

  private func lend<Output>(
    _ entry: EntryTable.Entry, _ body: (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) throws(CacheError) -> Output? { try body(entry.payload.span, entry.metadata) }
}
