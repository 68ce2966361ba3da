import MemoryStorage
import StorageConformance
import StorageSPI
import Synchronization
import Testing

@testable import ResponseStorage

@Suite("Engines that evict")
struct EvictorTests {
  private let clock = ManualClock(Timestamp(milliseconds: 1_000_000))

  private func open(_ eviction: EvictionPolicy) async throws -> (engine: EvictingEngine, store: EntryStore) {
    let plugin = MemoryPlugin()
    let engine = EvictingEngine(try await plugin.open(EngineConfiguration(for: plugin.declaration, clock: clock)))
    let limits = StoreLimits(maxEntries: 2, maxBytes: 100, eviction: eviction)
    return (engine, EntryStore(engine: engine, clock: clock, limits: limits, removesExpired: false))
  }

  private func key(_ number: Int) throws(CacheError) -> CacheKey { try CacheKey("cities/\(number)") }

  private func put(_ numbers: Range<Int>, _ store: EntryStore) async throws {
    for number in numbers {
      clock.advance(by: .milliseconds(1))
      let metadata = EntryMetadata(
        storedAt: clock.now, freshUntil: .distantFuture, retainUntil: .distantFuture, contentType: "")
      try await store.write(try key(number), payload: [1], metadata: metadata)
    }
  }

  @Test(
    "The engine chooses where the policy is an order",
    arguments: [
      (EvictionPolicy.leastRecentlyUsed, "last-used-at stored-at"),
      (.leastFrequentlyUsed, "use-count last-used-at stored-at"), (.leastRecentlyStored, "stored-at"),
    ])
  func chooses(policy: EvictionPolicy, order: String) async throws {
    let (engine, store) = try await open(policy)
    try await put(0..<3, store)
    #expect(engine.orders == [order, order, order])
    #expect(engine.plainBatches == 0 && engine.scans == 0)
    #expect(store.operations.current.evictions == 3 * EvictingEngine.evictions)
  }

  @Test("The core chooses where the policy is more than an order", arguments: [EvictionPolicy.s3FIFO, .none])
  func coreChooses(policy: EvictionPolicy) async throws {
    let (engine, store) = try await open(policy)
    try await put(0..<2, store)
    #expect(engine.orders.isEmpty && engine.plainBatches == 2)
  }

  @Test("The core chooses where the engine finds too little that may go")
  func engineFindsNothing() async throws {
    let (engine, store) = try await open(.leastRecentlyStored)
    engine.findNothing()
    try await put(0..<3, store)
    #expect(try await store.engine.scan(KeyRange(), limit: 9).map(\.key) == [try key(1), try key(2)])
    #expect(store.operations.current.evictions == 1)
  }

  @Test("An engine whose server was away when it was opened chooses as well")
  func awaitedEngineChooses() async throws {
    let (engine, _) = try await open(.leastRecentlyUsed)
    let awaited = AwaitedEngine(after: CacheError(.unreachable, "away"), clock: clock, evicts: true) { engine }
    let store = EntryStore(
      engine: awaited, clock: clock, limits: StoreLimits(maxEntries: 2, maxBytes: 100), removesExpired: false)
    clock.advance(by: AwaitedEngine.pause)
    try await put(0..<3, store)
    store.countLookUp(try key(1))
    try await store.close()
    #expect(engine.orders.count == 3 && engine.plainBatches == 0 && engine.uses.count == 1)
  }

  @Test("Uses are sent in bulk, and what is left when the store is closed")
  func sendsUses() async throws {
    let (engine, store) = try await open(.leastRecentlyUsed)
    let count = SharedUses.batchSize + 3
    for number in 0..<count {
      store.countLookUp(try key(number % 200))
      store.countLookUp(nil)
    }
    #expect(engine.uses.isEmpty)
    try await store.close()
    #expect(engine.uses.count == 1 && engine.uses[0].count == 200)
    #expect(engine.uses[0].reduce(0) { $0 + $1.count } == Int64(count))
    #expect(engine.uses[0].allSatisfy { $0.lastUsedAt == clock.now })
  }

  @Test("What many reads use is sent meanwhile, without any lost")
  func sendsUsesMeanwhile() async throws {
    let (engine, store) = try await open(.leastRecentlyUsed)
    for number in 0..<(2 * SharedUses.batchSize + 1) { store.countLookUp(try key(number)) }
    try await store.close()
    #expect(engine.uses.count > 1)
    #expect(engine.uses.joined().count == 2 * SharedUses.batchSize + 1)
  }

  @Test("Few uses are sent with the next one after a few seconds")
  func sendsFewUses() async throws {
    let (engine, store) = try await open(.leastRecentlyUsed)
    store.countLookUp(try key(1))
    clock.advance(by: SharedUses.patience - .milliseconds(1))
    store.countLookUp(try key(1))
    #expect(engine.uses.isEmpty)
    clock.advance(by: .milliseconds(1))
    store.countLookUp(try key(2))
    while engine.uses.isEmpty { await Task.yield() }
    #expect(engine.uses.joined().map(\.count).sorted() == [1, 2])
    store.countLookUp(try key(3))
    try await store.close()
    #expect(engine.uses.map(\.count) == [2, 1])
  }

  @Test("Uses are sent also after the clock was set back")
  func sendsUsesAfterTheClockWasSetBack() async throws {
    let (engine, store) = try await open(.leastRecentlyUsed)
    store.countLookUp(try key(1))
    clock.advance(by: .seconds(-600))
    store.countLookUp(try key(2))
    while engine.uses.isEmpty { await Task.yield() }
    #expect(engine.uses[0].count == 2)
    try await store.close()
  }

  @Test("No uses are sent where none decides", arguments: [EvictionPolicy.leastRecentlyStored, .s3FIFO, .none])
  func sendsNoUses(policy: EvictionPolicy) async throws {
    let (engine, store) = try await open(policy)
    store.countLookUp(try key(1))
    try await store.close()
    #expect(engine.uses.isEmpty)
  }

  @Test("Uses that cannot be sent are no failure")
  func losesUses() async throws {
    let (engine, store) = try await open(.leastRecentlyUsed)
    store.countLookUp(try key(1))
    engine.findNothing()
    try await store.close()
    #expect(engine.uses.isEmpty)
  }
}

/// An engine that notes how it is asked to evict, and evicts nothing.
private final class EvictingEngine: Evicting {
  /// How many evictions it claims for each batch.
  static let evictions = 7

  private struct State {
    var orders: [String] = []
    var plainBatches = 0
    var scans = 0
    var uses: [[EntryUse]] = []
    var findsNothing = false
  }

  private let base: any StorageEngine
  private let state = Mutex(State())

  init(_ base: any StorageEngine) { self.base = base }

  var orders: [String] { state.withLock { $0.orders } }
  var plainBatches: Int { state.withLock { $0.plainBatches } }
  var scans: Int { state.withLock { $0.scans } }
  var uses: [[EntryUse]] { state.withLock { $0.uses } }

  /// From now on evictions and uses fail.
  func findNothing() { state.withLock { $0.findsNothing = true } }

  func apply(_ batch: WriteBatch, evicting order: EvictionOrder) async throws(CacheError) -> Int {
    let findsNothing = state.withLock { state in
      state.orders.append(order.text)
      return state.findsNothing
    }
    if findsNothing {
      try await base.apply(batch)
      return 0
    }
    var batch = batch
    batch.bounds = nil
    try await base.apply(batch)
    return Self.evictions
  }

  func add(_ uses: [EntryUse]) async throws(CacheError) {
    try state.withLock { state throws(CacheError) in
      if state.findsNothing { throw CacheError(.unreachable, "the server is away") }
      state.uses.append(uses)
    }
  }

  func apply(_ batch: WriteBatch) async throws(CacheError) {
    state.withLock { $0.plainBatches += 1 }
    try await base.apply(batch)
  }

  func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? { try await base.read(key, body) }

  func scan(_ range: KeyRange, limit: Int) async throws(CacheError) -> [EntrySummary] {
    state.withLock { $0.scans += 1 }
    return try await base.scan(range, limit: limit)
  }

  func statistics() async throws(CacheError) -> StorageStatistics { try await base.statistics() }
  func checkIntegrity() async throws(CacheError) -> [IntegrityIssue] { try await base.checkIntegrity() }
  func compact() async throws(CacheError) { try await base.compact() }
  func close() async throws(CacheError) { try await base.close() }
}
