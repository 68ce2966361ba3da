import FetchVocabulary
import StorageConformance
import StorageSPI
import Testing

@testable import ResponseStorage

/// A repair takes what lacks its dictionary for damage, and nothing else.
struct StoreRepairTests {
  @Test(arguments: TestedEngine.persistent, [true, false])
  func aDamagedDictionaryCostsTheEntriesThatNeedIt(engine: TestedEngine, isDryRun: Bool) async throws {
    let (scratch, pages) = (try await Scratch(engine), try await MoviePages.pages(["the"], 40))
    _ = try await scratch.trained(pages)
    let (sound, damaged) = (try CacheKey("notes/a"), try CacheKey("notes/b"))
    let dictionary = try #require(try await scratch.dictionaries().first)
    for key in [sound, damaged] {
      try await scratch.store().write(key, payload: pages[0], metadata: scratch.metadata())
    }
    for key in [damaged, dictionary] {
      let (payload, metadata) = try await scratch.stored(key)
      try await scratch.replace(key, payload.reversed(), metadata, isSound: false)
    }
    try await scratch.engine.close()
    let report = try await StoreRepair(scratch.plugin, scratch.configuration).run(
      suffix: ".damaged", isDryRun: isDryRun)
    let movies = try pages.indices.map { try MoviePages.key($0) }
    #expect(Set(report.lost.compactMap(\.key)) == Set(movies + [damaged, dictionary]))
    #expect(report.lost.count == pages.count + 2)
    #expect(report.lost.count { $0.kind == .undecodable && $0.message.contains("dictionary") } == pages.count)
    #expect(report.saved == 1)
    #expect(report.movedTo.isEmpty == isDryRun)
    guard !isDryRun else { return }
    let repaired = try await scratch.plugin.open(scratch.configuration)
    let store = EntryStore(engine: repaired, clock: scratch.clock)
    #expect(try await store.payload(sound)?.payload == pages[0])
    let administration = StoreAdministration(store: store, ledger: MemoryOperationLedger())
    #expect(try await administration.verify().issues.isEmpty)
    #expect(try await administration.verify().entriesChecked == 1)
    try await repaired.close()
  }

  @Test(arguments: TestedEngine.persistent)
  func aSoundStoreStaysAsItIs(engine: TestedEngine) async throws {
    let (scratch, pages) = (try await Scratch(engine), try await MoviePages.pages(["the"], 40))
    _ = try await scratch.trained(pages, ["zstd", "sealed"])
    try await scratch.engine.close()
    let report = try await StoreRepair(scratch.plugin, scratch.configuration).run(suffix: ".damaged", isDryRun: false)
    #expect(report.lost.isEmpty && report.mended.isEmpty && report.movedTo.isEmpty)
    #expect(report.saved == pages.count + 1)
  }
}
