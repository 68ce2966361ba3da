import FetchVocabulary
import StorageConformance
import StorageSPI
import Testing

@testable import ResponseStorage

/// Exports and migrations take along what their entries need, also if another process trains meanwhile.
struct DictionaryCopyTests {
  /// A store with `pages` whose entries another process trains with when the twentieth is read.
  private func trainedOnTheWay(_ scratch: Scratch, _ pages: [[UInt8]]) async throws -> EntryStore {
    try await scratch.write(pages)
    let (administration, due) = (scratch.administration(try Transforms.named(["zstd"])), try MoviePages.key(20))
    let engine = RacedEngine(over: scratch.engine) { call in
      if case .read(let key) = call { key == due } else { false }
    } _: { () async throws(CacheError) in
      _ = try await administration.train()
    }
    return EntryStore(engine: engine, clock: scratch.clock)
  }

  @Test func anExportHasTheDictionariesThatWereTrainedMeanwhile() async throws {
    let (scratch, pages, copy) = (try await Scratch(), try await MoviePages.pages(["the"], 40), try await Scratch())
    var lines: [UInt8] = []
    let exported = try await StoreExport(trainedOnTheWay(scratch, pages)).run(
      EntrySelection(), progress: { _, _ in }, to: { lines += $0 })
    #expect(exported.exported == pages.count)
    #expect(try await scratch.dictionaries().count == 1)
    var pieces = [lines, []]
    let report = try await StoreImport(into: copy.store()).run(
      "lines", TransferOptions(), progress: { _, _ in },
      reading: { () async throws(CacheError) in pieces.removeFirst() })
    #expect(report.imported == pages.count)
    #expect(try await copy.administration().verify().issues.isEmpty)
    try await copy.expectReadable(pages)
  }

  @Test func aMigrationHasTheDictionariesThatWereTrainedMeanwhile() async throws {
    let (scratch, pages, copy) = (try await Scratch(), try await MoviePages.pages(["the"], 40), try await Scratch())
    let report = try await StoreMigration(from: trainedOnTheWay(scratch, pages), to: copy.store()).run(
      TransferOptions()
    ) { _, _, _ in }
    #expect(report.copied == pages.count)
    #expect(try await copy.administration().verify().issues.isEmpty)
    try await copy.expectReadable(pages)
  }

  /// The dictionary is removed after an entry was read, and the entry was written anew without it before.
  @Test func anEntryWhoseDictionaryIsReplacedMeanwhileIsReadAgain() async throws {
    let (scratch, pages, copy) = (try await Scratch(), try await MoviePages.pages(["the"], 40), try await Scratch())
    _ = try await scratch.trained(pages)
    let dictionary = try #require(try await scratch.dictionaries().first)
    let engine = RacedEngine(over: scratch.engine) { call in
      if case .read(let key) = call { key == dictionary } else { false }
    } _: { () async throws(CacheError) in
      let store = scratch.store()
      for (index, page) in pages.enumerated() {
        let key = try CacheKey("movies/v1/page=\(1_000 + index)")
        try await store.write(key, payload: page, metadata: scratch.metadata())
      }
      var batch = WriteBatch()
      batch.remove(dictionary)
      try await scratch.engine.apply(batch)
    }
    let store = EntryStore(engine: engine, clock: scratch.clock)
    let report = try await StoreMigration(from: store, to: copy.store()).run(TransferOptions()) { _, _, _ in }
    #expect(report.copied == pages.count && report.verified == pages.count && report.damage.isEmpty)
    try await copy.expectReadable(pages)
  }

  private enum Loss: CaseIterable { case gone, damaged }

  @Test(arguments: Loss.allCases)
  private func whatCannotBeReadForLackOfADictionaryIsDamage(loss: Loss) async throws {
    let (scratch, pages, copy) = (try await Scratch(), try await MoviePages.pages(["the"], 40), try await Scratch())
    _ = try await scratch.trained(pages)
    let (key, dictionary) = (try CacheKey("notes/a"), try #require(try await scratch.dictionaries().first))
    try await scratch.store().write(key, payload: pages[0], metadata: scratch.metadata())
    switch loss {
    case .gone: try await scratch.remove([dictionary])
    case .damaged:
      let (payload, metadata) = try await scratch.stored(dictionary)
      try await scratch.replace(dictionary, payload.reversed(), metadata, isSound: false)
    }
    let issues = try await scratch.administration().verify().issues
    #expect(issues.count { $0.key?.namespace == "movies" && $0.kind == .undecodable } == pages.count)
    #expect(issues.count == pages.count + (loss == .damaged ? 1 : 0))
    let exported = try await StoreExport(scratch.store()).run(
      EntrySelection(), progress: { _, _ in }, to: { _ in })
    #expect(exported.exported == 1)
    #expect(exported.damage.entries.count == pages.count)
    let report = try await StoreMigration(from: scratch.store(), to: copy.store()).run(TransferOptions()) { _, _, _ in }
    #expect(report.copied == 1 && report.verified == 1)
    #expect(report.damage.entries.count == pages.count && report.different.count == 0)
    #expect(try await copy.administration().verify().issues.isEmpty)
  }
}
