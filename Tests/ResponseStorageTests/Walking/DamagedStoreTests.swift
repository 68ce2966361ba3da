import FetchVocabulary
import StorageSPI
import TestStorage
import Testing

@testable import ResponseStorage

/// What reads a whole store returns what comes before damage, and then fails with it.
struct DamagedStoreTests {
  private let damage = Damage(entries: [], prefixes: ["movies/"])

  private func damaged(_ store: GeneratedStore) -> EntryStore {
    EntryStore(engine: FaultyEngine(over: store.test.engine, damage), clock: store.test.clock)
  }

  @Test func everythingFailsWithTheDamage() async throws {
    let store = try await GeneratedStore(seed: 31, count: 2_600)
    let entries = damaged(store)
    let administration = StoreAdministration(store: entries, ledger: FakeLedger())
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
      ("rm", { () async throws(CacheError) in _ = try await administration.remove(EntrySelection(), dryRun: true) }),
      ("rm --all", { () async throws(CacheError) in try await administration.removeAll { _ in } }),
      ("compact", { () async throws(CacheError) in _ = try await administration.compact() }),
      (
        "export",
        { () async throws(CacheError) in
          _ = try await StoreExport(entries).run(EntrySelection(), progress: { _, _ in }) { _ in }
        }
      ),
      (
        "migrate",
        { () async throws(CacheError) in
          _ = try await StoreMigration(from: entries, to: destination).run(TransferOptions()) { _, _, _ in }
        }
      ),
    ]
    for (name, call) in calls { #expect(await errorCode(call) == .damaged, "\(name)") }
    #expect(try await store.test.engine.scan(KeyRange(), limit: 10_000).count == 2_600, "nothing was removed")
  }

  @Test func anotherNamespaceIsListed() async throws {
    let store = try await GeneratedStore(seed: 36, count: 2_600)
    let administration = StoreAdministration(store: damaged(store), ledger: FakeLedger())
    let listing = try await administration.list(EntrySelection(namespace: "cities"), after: nil, limit: .max)
    #expect(listing.entries == store.model.filter { $0.key.namespace == "cities" })
  }
}
