import FetchVocabulary
import EngineConformance
import EngineAPI
import TestStorage
import Testing

@testable import CacheCore

/// What reads a whole store returns what comes before damage, and then fails with it.
struct DamagedStoreTests {
  private let damage = Damage(entries: [], prefixes: ["movies/"])

  private func damaged(_ store: GeneratedStore) -> EntryStore {
    EntryStore(engine: FaultyEngine(over: store.test.engine, damage), clock: store.test.clock)
  }

  @Test func everythingFailsWithTheDamage() async throws {
    let store = try await GeneratedStore(seed: 31, count: 2_600)
    let entries = damaged(store)
    let administration = StoreAdministration(entries)
    let destination = try await TestStore().store
    let calls: [(String, () async throws(CacheError) -> Void)] = [
      (
        "ls",
        { () async throws(CacheError) in _ = try await administration.list(EntrySelection(), after: nil, limit: .max) }
      ),
      (
        "ls by size",
        { () async throws(CacheError) in
          _ = try await administration.list(EntrySelection(), by: .size, limit: .max)
        }
      ),
      ("stats", { () async throws(CacheError) in _ = try await administration.statistics() }),
      (
        "rm",
        { () async throws(CacheError) in _ = try await administration.change(.remove, EntrySelection(), dryRun: true) }
      ),
      ("rm --all", { () async throws(CacheError) in try await administration.removeAll { _ in } }),
      ("compact", { () async throws(CacheError) in _ = try await administration.compact() }),
      (
        "export",
        { () async throws(CacheError) in
          _ = try await entries.export(EntrySelection(), progress: { _, _ in }) { _ in }
        }
      ),
      (
        "migrate",
        { () async throws(CacheError) in
          _ = try await entries.migrate(to: destination, TransferOptions()) { _, _, _ in }
        }
      ),
    ]
    for (name, call) in calls { #expect(await errorCode(call) == .damaged, "\(name)") }
    #expect(try await store.test.engine.scan(ScanRequest(limit: 10_000)).entries.count == 2_600, "nothing was removed")
  }

  @Test(.timeLimit(.minutes(1))) func aWalkThatIsLedBackEnds() async throws {
    let store = try await GeneratedStore(seed: 31, count: 2_600)
    let first = store.model[0].key.text
    store.test.engine.faults.page = { page, request in
      request.position == nil ? page : ScanPage(page.entries, next: first)
    }
    let administration = StoreAdministration(store.test.store)
    #expect(try await administration.verify().entriesChecked == 1_000)
    let listing = await errorCode { () async throws(CacheError) in
      _ = try await administration.list(EntrySelection(), after: nil, limit: .max)
    }
    #expect(listing == .damaged)
    let export = await errorCode { () async throws(CacheError) in
      _ = try await store.test.store.export(EntrySelection(), progress: { _, _ in }) { _ in }
    }
    #expect(export == .damaged)
  }

  @Test(arguments: [0, 1, 999, 1_000, 1_777])
  func whatComesBeforeTheDamageIsListed(index: Int) async throws {
    let store = try await GeneratedStore(seed: 37, count: 2_000)
    let damage = Damage(entries: [store.model[index].key], isNamed: false)
    let entries = EntryStore(engine: FaultyEngine(over: store.test.engine, damage), clock: store.test.clock)
    var listed: [ScannedEntry] = []
    let listing = await errorCode { () async throws(CacheError) in
      _ = try await StoreAdministration(entries)
        .list(EntrySelection(), after: nil, limit: .max) { page, _ in listed += page }
    }
    #expect(listing == .damaged && listed == Array(store.model[..<index]))
  }

  @Test(arguments: [0, 1, 29])
  func whatComesBeforeTheDamageIsExported(index: Int) async throws {
    let test = try await TestStore()
    let keys = try (0..<30).map { try CacheKey("cities/v1/\(10 + $0)") }
    let payload: [UInt8] = [1]
    var batch = WriteBatch()
    for key in keys {
      var metadata = EntryMetadata(
        storedAt: test.clock.now, freshUntil: test.clock.now, retainUntil: test.clock.now, contentType: ""
      )
      metadata.setChecksums(key: key, payload: payload.span)
      batch.put(key, payload: payload, metadata: metadata)
    }
    try await test.engine.apply(batch)
    let engine = FaultyEngine(over: test.engine, Damage(entries: [keys[index]], isNamed: false))
    let entries = EntryStore(engine: engine, clock: test.clock)
    var lines = 0
    let export = await errorCode { () async throws(CacheError) in
      _ = try await entries.export(EntrySelection(), progress: { _, _ in }) { bytes in
        lines += bytes.count { $0 == UInt8(ascii: "\n") }
      }
    }
    #expect(export == .damaged && lines == index)
  }

  /// If the engine names the entry that it cannot read, all others are exported and migrated, and it is reported.
  @Test(arguments: [0, 1, 999, 1_000, 2_499])
  func entriesAfterANamedOneAreReadToo(index: Int) async throws {
    let test = try await TestStore()
    let stored = try GeneratedEntries.entries(seed: 4, count: 2_500, at: test.clock.now).sorted { $0.key < $1.key }
    try await test.engine.store(stored)
    let bad = stored[index].key
    let entries = EntryStore(engine: FaultyEngine(over: test.engine, Damage(entries: [bad])), clock: test.clock)
    let exported = try await entries.export(EntrySelection(), progress: { _, _ in }) { _ in }
    #expect(exported.written == 2_499 && exported.damaged.first == [bad])
    let destination = try await TestStore().store
    let report = try await entries.migrate(to: destination, TransferOptions()) { _, _, _ in }
    #expect(report.written == 2_499 && report.verified == 2_499 && report.damaged.first == [bad])
  }

  /// Damage that a listing does not meet does not end it.
  @Test func aListingReadsNoPayloads() async throws {
    let test = try await TestStore()
    let stored = try GeneratedEntries.entries(seed: 4, count: 20, at: test.clock.now).sorted { $0.key < $1.key }
    try await test.engine.store(stored)
    let engine = FaultyEngine(over: test.engine, Damage(entries: [stored[7].key], isListed: true))
    let administration = StoreAdministration(EntryStore(engine: engine, clock: test.clock))
    let listing = try await administration.list(EntrySelection(), after: nil, limit: .max)
    #expect(listing.entries.map(\.key) == stored.map(\.key))
    #expect(try await administration.list(EntrySelection(), by: .size, limit: .max).entries.count == stored.count)
    #expect(engine.requests.allSatisfy { !$0.includesPayloads })
    let shown = await errorCode { () async throws(CacheError) in _ = try await administration.entry(stored[7].key) }
    #expect(shown == .damaged)
  }

  @Test func anotherNamespaceIsListed() async throws {
    let store = try await GeneratedStore(seed: 36, count: 2_600)
    let administration = StoreAdministration(damaged(store))
    let listing = try await administration.list(EntrySelection(namespace: "cities"), after: nil, limit: .max)
    #expect(listing.entries == store.model.filter { $0.key.namespace == "cities" })
  }
}
