import FetchVocabulary
import EngineConformance
import EngineAPI
import TestStorage
import Testing

@testable import CacheCore

@Suite("An engine lists keys in no order") struct UnorderedStoreTests {
  @Test("Pages follow each other without gap or overlap", arguments: [1, 7, 999, 1_000, 2_599, 2_600])
  func listing(limit: Int) async throws {
    let generated = try await GeneratedStore(seed: 41)
    let engine = UnorderedEngine(over: generated.test.engine)
    let store = EntryStore(engine: engine, clock: generated.test.clock, capabilities: [.bounded])
    let administration = StoreAdministration(store)
    for selection in [
      EntrySelection(prefix: limit == 1 ? "queries" : nil), EntrySelection(namespace: "movies", state: .stale),
    ] {
      var found: [ScannedEntry] = []
      var cursor: String?
      repeat {
        let page = try await administration.list(selection, after: cursor, limit: limit)
        #expect(page.entries.count == limit || page.cursor == nil)
        found += page.entries
        cursor = page.cursor
      } while cursor != nil
      #expect(found.sorted { $0.key < $1.key } == generated.expected(selection))
    }
    let sorted = try await administration.list(EntrySelection(), by: .key, limit: limit)
    #expect(sorted.entries.map(\.key) == generated.model.prefix(limit).map(\.key))
  }

  @Test("Entries are exported, migrated, verified and made stale") func transfer() async throws {
    let test = try await TestStore()
    try await test.engine.store(try GeneratedEntries.entries(seed: 8, count: 2_500, at: test.clock.now))
    let store = EntryStore(engine: UnorderedEngine(over: test.engine), clock: test.clock, capabilities: [.bounded])
    let administration = StoreAdministration(store)
    #expect(try await store.export(EntrySelection(), progress: { _, _ in }) { _ in }.written == 2_500)
    let destination = try await TestStore()
    let report = try await store.migrate(to: destination.store, TransferOptions()) { _, _, _ in }
    #expect(report.written == 2_500 && report.verified == 2_500)
    let verified = try await administration.verify()
    #expect(verified.entriesChecked == 2_500 && verified.issues.isEmpty)
    #expect(try await administration.change(.remove, EntrySelection(), dryRun: false).entries == 2_500)
  }

  @Test("An entry that a page has twice is counted, made stale and removed once") func repeated() async throws {
    let test = try await TestStore()
    try await test.engine.store(try GeneratedEntries.entries(seed: 8, count: 1_500, at: test.clock.now))
    test.engine.faults.page = { page, _ in ScanPage(page.entries + page.entries.prefix(1), next: page.next) }
    let store = EntryStore(engine: test.engine, clock: test.clock, capabilities: [.bounded])
    let administration = StoreAdministration(store)
    let fresh = try await administration.statistics().count(.fresh) ?? 0
    #expect(try await administration.change(.makeStale, EntrySelection(), dryRun: false).entries == fresh && fresh > 0)
    #expect(try await store.export(EntrySelection(), progress: { _, _ in }) { _ in }.written == 1_500)
    #expect(try await administration.change(.remove, EntrySelection(state: .stale), dryRun: false).entries > fresh)
    #expect(try await administration.change(.remove, EntrySelection(), dryRun: true).entries == store.count()?.entries)
    _ = try await administration.change(.remove, EntrySelection(), dryRun: false)
    #expect(try await store.count()?.entries == 0)
  }

  @Test("Damage ends a walk if the engine does not say where to continue") func damage() async throws {
    let test = try await TestStore()
    let entries = try GeneratedEntries.entries(seed: 8, count: 50, at: test.clock.now)
    try await test.engine.store(entries)
    let damaged = FaultyEngine(over: UnorderedEngine(over: test.engine), Damage(entries: [entries[7].key]))
    let store = EntryStore(engine: damaged, clock: test.clock, capabilities: [.bounded])
    let administration = StoreAdministration(store)
    #expect(try await administration.verify().issues.map(\.key) == [entries[7].key])
    let code = await errorCode { _ = try await store.export(EntrySelection(), progress: { _, _ in }) { _ in } }
    #expect(code == .damaged)
  }

  @Test("A walk continues behind damage if the engine says where", arguments: [0, 7, 24, 25, 49])
  func skippedDamage(index: Int) async throws {
    let test = try await TestStore()
    let entries = try GeneratedEntries.entries(seed: 8, count: 50, at: test.clock.now)
      .sorted { AccessRecord.digest(of: $0.key) < AccessRecord.digest(of: $1.key) }
    try await test.engine.store(entries)
    let bad = Set([entries[index].key, entries[(index + 1) % 50].key])
    let damage = Damage(entries: bad, position: { "#\(AccessRecord.digest(of: $0))" })
    let damaged = FaultyEngine(over: UnorderedEngine(over: test.engine), damage)
    let store = EntryStore(engine: damaged, clock: test.clock, capabilities: [.bounded])
    #expect(Set(try await StoreAdministration(store).verify().issues.map(\.key)) == bad)
    let exported = try await store.export(EntrySelection(), progress: { _, _ in }) { _ in }
    #expect(exported.written == 48 && Set(exported.damaged.first) == bad)
  }

  @Test("Limits hold in a store of which only some entries are looked at", arguments: EvictionPolicy.standard)
  func eviction(policy: EvictionPolicy) async throws {
    let test = try await TestStore()
    let limits = StoreLimits(maxEntries: 200, maxBytes: 10_000, eviction: policy)
    let store = EntryStore(
      engine: UnorderedEngine(over: test.engine), clock: test.clock, limits: limits, capabilities: [.bounded],
      wholeLook: 20)
    for number in 0..<600 {
      test.clock.advance(by: .milliseconds(1))
      let end = test.clock.now.advanced(by: .milliseconds(number.isMultiple(of: 3) ? 90 : 1_000_000))
      let metadata = EntryMetadata(storedAt: test.clock.now, until: end)
      do throws(CacheError) {
        try await store.write(try CacheKey("cities/v1/\(number)"), payload: [1, 2], metadata: metadata)
      } catch { try #require(policy == .none && error.code == .overBounds, "\(error)") }
    }
    let total = try await test.engine.count().total()
    #expect(total.entries <= 200 && total.entries > 150)
    if policy == .none { #expect(store.uses.counts.evictions == 0) }
  }
}
