import FetchVocabulary
import StorageConformance
import StorageSPI
import TestStorage
import Testing

@testable import ResponseStorage

/// Everything that reads a damaged store returns what can be read, and names the rest.
struct DamagedStoreTests {
  private func damaged(_ store: GeneratedStore, _ damage: Damage) -> EntryStore {
    EntryStore(engine: FaultyEngine(over: store.test.engine, damage), clock: store.test.clock)
  }

  private func administration(_ store: EntryStore) -> StoreAdministration {
    StoreAdministration(store: store, ledger: FakeLedger())
  }

  @Test func theOtherNamespacesAreListedCountedAndExported() async throws {
    let store = try await GeneratedStore(seed: 31, count: 2_600)
    let entries = damaged(store, Damage(prefixes: ["movies/"]))
    let rest = store.model.filter { $0.key.namespace != "movies" }
    try #require(!rest.isEmpty && rest.count < store.model.count)
    let listing = try await administration(entries).list(EntrySelection(), after: nil, limit: .max)
    #expect(listing.entries == rest)
    let statistics = try await administration(entries).statistics()
    #expect(statistics.tally.total().entries == rest.count && statistics.storageBytes == nil)
    var exported = 0
    let export = try await StoreExport(entries).run(EntrySelection(), progress: { done, _ in exported = done }) { _ in }
    #expect(export.exported + export.damage.entries.count == rest.count && exported == export.exported)
    for damage in [listing.damage, statistics.damage, export.damage] {
      #expect(damage.placeCount == 1 && damage.places.allSatisfy { $0.contains("movies/") }, "\(damage)")
    }
  }

  /// As if the engine knew that entries are missing, and not which.
  @Test func anErrorOfABeginningKeepsNothingElseFromBeingListed() async throws {
    let store = try await GeneratedStore(seed: 36, count: 2_600)
    var faults = Faults()
    faults.before = { call, _ throws(CacheError) in
      if case .scan(let range) = call, range.after == nil { throw CacheError(.damaged, "the index lacks entries") }
    }
    let engine = FaultyEngine(over: store.test.engine, faults)
    let administration = administration(EntryStore(engine: engine, clock: store.test.clock))
    for selection in [EntrySelection(), EntrySelection(namespace: "movies")] {
      let listing = try await administration.list(selection, after: nil, limit: .max)
      #expect(listing.entries == store.model.filter { selection.namespace == nil || $0.key.namespace == "movies" })
      #expect(listing.damage.placeCount == 1 && listing.damage.entries.count == 0, "\(listing.damage)")
      #expect(engine.scans < 150, "\(engine.scans) scans")
    }
    let statistics = try await administration.statistics()
    #expect(statistics.tally.total().entries == 2_600 && !statistics.damage.isEmpty)
  }

  @Test func aStoreThatCannotBeCountedIsDamagedAlsoIfAllOfItCanBeRead() async throws {
    let store = try await GeneratedStore(seed: 37, count: 200)
    var faults = Faults()
    faults.before = { call, _ throws(CacheError) in
      if case .statistics = call { throw CacheError(.damaged, "the count is lost") }
    }
    let entries = EntryStore(engine: FaultyEngine(over: store.test.engine, faults), clock: store.test.clock)
    let statistics = try await administration(entries).statistics()
    #expect(statistics.tally.total().entries == 200)
    #expect(statistics.damage.placeCount == 0 && statistics.damage.places == ["the count is lost"])
  }

  @Test func whatCanBeListedIsRemovedAndTheRestIsNamed() async throws {
    let store = try await GeneratedStore(seed: 32, count: 1_200)
    let lost = store.model[700].key
    let entries = damaged(store, Damage(entries: [lost]))
    let report = try await administration(entries).remove(EntrySelection(), dryRun: false)
    #expect(report.entries == 1_199 && report.damage.entries.first == [lost])
    #expect(try await store.test.engine.scan(KeyRange(), limit: 10).map(\.key) == [lost])
  }

  @Test func onlyAnEmptySoundStoreIsOneFromWhichAllWasRemoved() async throws {
    let store = try await GeneratedStore(seed: 33, count: 1_200)
    let entries = damaged(store, Damage(entries: [store.model[3].key], isNamed: false))
    var held = 0
    let code = await errorCode { () async throws(CacheError) in
      try await administration(entries).removeAll { held = $0.entries }
    }
    #expect(code == .damaged && held == 1_200)
    try await store.administration.removeAll { _ in }
    #expect(try await store.test.engine.scan(KeyRange(), limit: 10).isEmpty)
  }

  @Test func aKeyHalfWayLiesBetween() {
    var random = SeededGenerator(seed: 35)
    func text() -> [UInt8] {
      (0..<Int.random(in: 1...4, using: &random)).map { _ in .random(in: 0x21...0x7E, using: &random) }
    }
    for _ in 0..<2_000 {
      let (first, second) = (text(), text())
      let pair = [first, second].sorted { $0.lexicographicallyPrecedes($1) }
      guard pair[0] != pair[1] else { continue }
      for high in [pair[1], nil] {
        guard let middle = KeyGap.middle(pair[0], high) else {
          #expect(high == pair[0] + [0x21], "there is a text between \(pair)")
          continue
        }
        #expect(pair[0].lexicographicallyPrecedes(middle), "\(pair) \(middle)")
        if let high { #expect(middle.lexicographicallyPrecedes(high), "\(pair) \(middle)") }
        #expect(middle.allSatisfy { (0x21...0x7E).contains($0) })
      }
    }
  }
}
