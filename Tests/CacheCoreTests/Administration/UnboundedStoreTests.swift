import EngineAPI
import EngineConformance
import FetchVocabulary
import TestStorage
import Testing
@testable import CacheCore

/// A store with its own limits. Its engine fails if it is counted, or given bounds.
@Suite("An engine that is not bounded") struct UnboundedStoreTests {
  private let test: TestStore
  private let store: EntryStore

  init() async throws {
    test = try await TestStore()
    store = EntryStore(
      engine: UnboundedEngine(over: test.engine), clock: test.clock,
      limits: StoreLimits(maxEntries: 1, maxBytes: 10), capabilities: UnboundedPlugin.capabilities([.ordered]))
  }

  private var administration: StoreAdministration { StoreAdministration(store) }

  private func metadata(kept: Duration = .seconds(1_000)) -> EntryMetadata {
    EntryMetadata(
      storedAt: test.clock.now, freshUntil: test.clock.now.advanced(by: .seconds(60)),
      retainUntil: test.clock.now.advanced(by: kept), contentType: "text/plain")
  }

  private func put(_ names: [String], kept: Duration = .seconds(1_000)) async throws {
    for name in names {
      try await store.write(
        try CacheKey("notes/\(name)"), payload: Array(name.utf8) + [1, 2, 3], metadata: metadata(kept: kept))
    }
  }

  /// Puts `count` entries at once, and a lease, past the core.
  private func fill(_ count: Int) async throws {
    var batch = WriteBatch()
    for number in 0..<count { batch.put(try CacheKey("notes/\(number)"), payload: [1, 2], metadata: metadata()) }
    batch.put(try CacheKey("leases/v1/a"), payload: [1], metadata: metadata())
    try await test.engine.apply(batch)
  }

  @Test func limitsDoNotApplyAndNothingIsEvictedOrSwept() async throws {
    try await put(["a", "b", "more-than-ten-bytes"], kept: .seconds(1))
    test.clock.advance(by: .seconds(100))
    for number in 0..<40 { try await put(["c\(number)"]) }
    #expect(try await test.engine.count().entries == 43, "expired ones among them, which the engine drops")
    #expect(test.engine.scans == 0)
    #expect(test.engine.batches.allSatisfy { $0.operations.count == 1 && $0.bounds == nil })
  }

  @Test func statisticsCountByOneWalk() async throws {
    try await fill(2_500)
    let report = try await administration.statistics()
    #expect(report.entries == 2_500 && report.payloadBytes == 5_000)
    #expect(report.count(.fresh) == 2_500 && report.count(.expired) == 0)
    #expect(report.count?.namespaces.keys.sorted() == ["notes"], "leases are not counted")
    #expect(report.evictions == nil && report.storageBytes == nil)
    #expect(test.engine.scans == 3)
  }

  @Test func statisticsOfManyAreCountedOnDemand() async throws {
    let count = StoreReport.scannedEntries + 5_000
    try await fill(count)
    let report = try await administration.statistics()
    #expect(report.count == nil && report.entries == nil && report.payloadBytes == nil && report.states == nil)
    #expect(test.engine.scans == 101, "it stops as soon as there are more")
    let all = try await administration.statistics(countingStates: true)
    #expect(all.entries == count && all.count(.fresh) == count)
    let scans = test.engine.scans
    let none = try await administration.statistics(countingStates: false)
    #expect(none.count == nil && test.engine.scans == scans)
    #expect(try await store.count() == nil)
  }

  @Test func usesAreNotRecordedButHitsAre() async throws {
    let table = UseTable(path: "/dev/null/none", capacity: 1)
    let uses = StoreUse(table, recordsUses: false)
    let key = try CacheKey("notes/a")
    let store = EntryStore(
      engine: UnboundedEngine(over: test.engine), clock: test.clock, uses: uses, capabilities: [.ordered])
    for _ in 0..<100 { store.countLookUp(key) }
    store.countLookUp(nil)
    #expect(uses.counts == OperationCounts(hits: 100, misses: 1))
    #expect(try uses.histories(of: [key]).map(\.count) == [0], "without reading the file")
    try uses.restore([key: AccessHistory(lastUsedAt: test.clock.now, count: 3)])
    #expect(try uses.histories(of: [key]).map(\.count) == [0])
  }

  @Test func aListingByUseIsAnError() async throws {
    try await put(["a", "b"])
    let error = await #expect(throws: CacheError.self) {
      _ = try await administration.list(EntrySelection(), by: .used, limit: 9)
    }
    #expect(error?.code == .invalidRequest)
    #expect(error?.message == "the uses of entries are not recorded: the store evicts by itself")
    for order in EntryOrder.allCases where order != .used {
      #expect(try await administration.list(EntrySelection(), by: order, limit: 9).entries.count == 2, "\(order)")
    }
  }

  /// Expired entries are dropped by the engine itself, without a scan.
  @Test func aCompactionIsTheEngines() async throws {
    try await put(["a"], kept: .seconds(1))
    test.clock.advance(by: .seconds(100))
    let report = try await administration.compact()
    #expect(report == CompactionReport(before: nil, after: nil, removed: 0))
    #expect(test.engine.scans == 0)
  }

  @Test func anEngineThatKeepsExpiredEntriesIsCompactedByTheCore() async throws {
    let store = EntryStore(engine: UnboundedEngine(over: test.engine), clock: test.clock, capabilities: [.ordered])
    try await put(["a"], kept: .seconds(1))
    test.clock.advance(by: .seconds(100))
    try await put(["b"])
    #expect(try await StoreAdministration(store).compact().removed == 1)
  }

  @Test func aCheckHasNoTotal() async throws {
    try await put(["a", "b"])
    var steps: [Int?] = []
    let report = try await administration.verify { steps.append($1) }
    #expect(report.entriesChecked == 2 && report.issueCount == 0)
    #expect(!steps.isEmpty && steps.allSatisfy { $0 == nil })
  }

  @Test func aRemovalOfAllReportsTheRemovedEntries() async throws {
    try await put(["a", "b"])
    var held: [EntryCount] = []
    try await administration.removeAll { held.append($0) }
    try await administration.requireRoom()
    #expect(held.map(\.entries) == [2] && held.map(\.payloadBytes) == [8])
    #expect(try await test.engine.count().entries == 0)
  }

  @Test func exportsAndMigrationsHaveNoTotal() async throws {
    try await put(["a", "b"])
    let other = try await TestStore()
    let report = try await store.migrate(to: other.store, TransferOptions()) { _, _, total in #expect(total == nil) }
    #expect(report.written == 2 && report.verified == 2)
    var lines = 0
    let exported = try await store.export(EntrySelection(), progress: { _, total in #expect(total == nil) }) { bytes in
      lines += bytes.count { $0 == 0x0A }
    }
    #expect(exported.written == 2 && lines == 2)
  }
}

@Suite("An engine has lost one of its servers") struct LostServerTests {
  private static func administration(_ engine: any StorageEngine, _ generated: GeneratedStore) -> StoreAdministration {
    StoreAdministration(EntryStore(engine: engine, clock: generated.test.clock))
  }

  @Test("Whatever must be complete fails, and says which server is lost") func strictness() async throws {
    let store = try await GeneratedStore(seed: 44, count: 50)
    let lost = LostServerEngine(over: store.test.engine)
    let administration = Self.administration(lost, store)
    let entries = EntryStore(engine: lost, clock: store.test.clock)
    func expectFailure(_ what: String, _ call: () async throws -> Void) async {
      let error = await #expect(throws: CacheError.self) { try await call() }
      #expect(error?.code == .unreachable && error?.message == LostServerEngine.missing, "\(what)")
    }
    await expectFailure("a listing") { _ = try await administration.list(EntrySelection(), after: nil, limit: 9) }
    await expectFailure("a sorted one") { _ = try await administration.list(EntrySelection(), by: .size, limit: 9) }
    await expectFailure("statistics") { _ = try await administration.statistics() }
    await expectFailure("a dry run") { _ = try await administration.change(.remove, EntrySelection(), dryRun: true) }
    await expectFailure("a removal") { _ = try await administration.change(.remove, EntrySelection(), dryRun: false) }
    await expectFailure("a removal of all") { try await administration.removeAll { _ in } }
    await expectFailure("softening") {
      _ = try await administration.change(.makeStale, EntrySelection(), dryRun: false)
    }
    await expectFailure("a check") { _ = try await administration.verify() }
    await expectFailure("compaction") { _ = try await administration.compact() }
    await expectFailure("the count") { _ = try await entries.count() }
    await expectFailure("the keys") { _ = try await entries.keys(prefix: "movies/") }
    #expect(try await store.test.engine.scan(ScanRequest(limit: 100)).entries.count == 50, "nothing was removed")
  }

  @Test("A key whose server answers is removed, though leases on the lost one cannot be listed")
  func removalOfAKey() async throws {
    let store = try await GeneratedStore(seed: 48, count: 50)
    let lost = LostServerEngine(over: store.test.engine)
    let key = try #require(store.model.first).key
    let report = try await Self.administration(lost, store).change(.remove, keys: [key], dryRun: false)
    #expect(report.entries == 1)
    #expect(try await store.test.engine.scan(ScanRequest(limit: 100)).entries.count == 49)
  }
}
