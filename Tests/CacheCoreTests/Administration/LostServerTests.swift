import EngineAPI
import FetchVocabulary
import CacheCore
import EngineConformance
import TestStorage
import Testing

@Suite("An engine has lost one of its servers") struct LostServerTests {
  private static func administration(_ engine: any StorageEngine, _ generated: GeneratedStore) -> StoreAdministration {
    StoreAdministration(EntryStore(engine: engine, clock: generated.test.clock))
  }

  @Test("Whatever must be complete fails, and says which server is lost")
  func strictness() async throws {
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
