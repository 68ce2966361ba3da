import FetchVocabulary
import StorageConformance
import StorageSPI
import Testing
import ZstdTransform

@testable import ResponseStorage

/// The life of a dictionary: trained from the store's own entries, kept in the store, needed to read them.
struct DictionaryTests {
  @Test(arguments: TestedEngine.all)
  func pagesOfMoviesTakeAQuarterOfTheirSize(engine: TestedEngine) async throws {
    let (scratch, pages) = (try await Scratch(engine), try await MoviePages.pages(["the", "of"], 60))
    let report = try await scratch.trained(pages)
    #expect(report.rewritten == pages.count)
    #expect(report.bytesAfter < report.bytesBefore)
    let stored = try await scratch.engine.statistics().tally.namespaces["movies"]?.payloadBytes ?? 0
    #expect(4 * stored <= pages.reduce(0) { $0 + $1.count }, "\(report)")
    // Pages that the dictionary has not seen, from a process that has to load it.
    let (others, store) = (try await MoviePages.pages(["love"], 15), scratch.store(try Transforms.named(["zstd"])))
    var (size, plain) = (0, 0)
    for (index, page) in others.enumerated() {
      let key = try MoviePages.key(5_000 + index)
      try await store.write(key, payload: page, metadata: scratch.metadata())
      size += try await scratch.stored(key).payload.count
      plain += page.count
    }
    #expect(4 * size <= plain, "\(size) of \(plain)")
    for (index, page) in pages.enumerated() {
      #expect(try await scratch.store(try Transforms.named([])).payload(MoviePages.key(index))?.payload == page)
      #expect(try await store.payload(MoviePages.key(index))?.payload == page)
    }
  }

  @Test func aLostDictionaryIsAnErrorThatSaysSo() async throws {
    let scratch = try await Scratch()
    _ = try await scratch.trained(try await MoviePages.pages(["the"], 40))
    let dictionary = try #require(try await scratch.dictionaries().first)
    try await scratch.remove([dictionary])
    let store = scratch.store(try Transforms.named(["zstd"]))
    let error = await #expect(throws: CacheError.self) { try await store.payload(MoviePages.key(0)) }
    #expect(error?.code == .damaged)
    #expect(error?.message.contains("dictionary") == true)
    let report = try await scratch.administration().verify()
    #expect(report.issueCount == 40)
    #expect(report.issues.allSatisfy { $0.kind == .undecodable })
  }

  @Test(arguments: [["zstd"], ["zstd", "sealed"]])
  func exportsAndMigrationsTakeDictionariesAlong(chain: [String]) async throws {
    let (scratch, pages) = (try await Scratch(), try await MoviePages.pages(["the"], 40))
    _ = try await scratch.trained(pages, chain)
    // Neither has the key, nor any transform.
    let imported = try await Scratch()
    var lines: [UInt8] = []
    let exported = try await StoreExport(scratch.store()).run(
      EntrySelection(namespace: "movies"), progress: { _, _ in }, to: { lines += $0 })
    #expect(exported.exported == pages.count)
    var pieces = [lines, []]
    let report = try await StoreImport(into: imported.store()).run(
      "lines", TransferOptions(), progress: { _, _ in },
      reading: { () async throws(CacheError) in pieces.removeFirst() })
    #expect(report.imported == pages.count)
    let migrated = try await Scratch()
    let migration = try await StoreMigration(from: scratch.store(), to: migrated.store()).run(TransferOptions()) {
      _, _, _ in
    }
    #expect(migration.copied == pages.count)
    #expect(migration.verified == pages.count)
    for copy in [imported, migrated] {
      #expect(try await copy.dictionaries() == scratch.dictionaries())
      for (index, page) in pages.enumerated() {
        #expect(try await copy.store(try Transforms.named([])).payload(MoviePages.key(index))?.payload == page)
      }
    }
    if chain.contains("sealed") {
      let key = try #require(try await scratch.dictionaries().first)
      #expect(try await scratch.stored(key).metadata.transforms?.hasPrefix("sealed:") == true)
    }
  }

  @Test func aDictionaryIsNeitherListedNorEvicted() async throws {
    let (scratch, pages) = (try await Scratch(), try await MoviePages.pages(["the"], 40))
    _ = try await scratch.trained(pages)
    let kept = try await scratch.dictionaries()
    let store = scratch.store(try Transforms.named(["zstd"]), limits: StoreLimits(maxEntries: 5, maxBytes: 20_000))
    for index in 0..<20 {
      try await store.write(CacheKey("notes/\(index)"), payload: pages[index], metadata: scratch.metadata())
    }
    #expect(try await scratch.dictionaries() == kept)
    let listed = try await scratch.administration().list(EntrySelection(), after: nil, limit: 100).entries
    #expect(listed.count == 5 && listed.allSatisfy { $0.key.namespace == "notes" })
    #expect(try await scratch.administration().remove(EntrySelection(), dryRun: false).entries == 5)
    #expect(try await scratch.dictionaries() == kept)
  }

  @Test func removingAllRemovesThemToo() async throws {
    let (scratch, pages) = (try await Scratch(), try await MoviePages.pages(["the"], 40))
    _ = try await scratch.trained(pages)
    let store = scratch.store(try Transforms.named(["zstd"]))
    try await store.write(MoviePages.key(0), payload: pages[0], metadata: scratch.metadata())
    try await StoreAdministration(store: store, ledger: MemoryOperationLedger()).removeAll { _ in }
    #expect(try await scratch.engine.statistics().tally.total().entries == 0)
    try await store.write(MoviePages.key(0), payload: pages[0], metadata: scratch.metadata())
    #expect(try await scratch.stored(MoviePages.key(0)).metadata.transforms == "zstd")
    #expect(try await scratch.store(try Transforms.named([])).payload(MoviePages.key(0))?.payload == pages[0])
  }

  @Test func trainingAgainKeepsADictionaryThatIsAsGood() async throws {
    let (scratch, pages) = (try await Scratch(), try await MoviePages.pages(["the"], 40))
    #expect(try await scratch.trained(pages).dictionaryBytes != nil)
    let kept = try await scratch.dictionaries()
    let again = try #require(try await scratch.administration(try Transforms.named(["zstd"])).train().first)
    #expect(again.dictionaryBytes == nil && again.rewritten == 0)
    #expect(try await scratch.dictionaries() == kept)
  }

  @Test func tooFewEntriesMakeNoDictionary() async throws {
    let scratch = try await Scratch()
    let report = try await scratch.trained([Array("{}".utf8), Array("[]".utf8)])
    #expect(report.dictionaryBytes == nil && report.samples == 2)
    #expect(try await scratch.dictionaries().isEmpty)
  }

  @Test func trainingNeedsATransformThatTakesDictionaries() async throws {
    let administration = try await Scratch().administration(try Transforms.named(["sealed"]))
    #expect(await code { () async throws(CacheError) in _ = try await administration.train() } == .invalidOption)
  }

  @Test func aDictionarySealedWithAnotherKeyKeepsNoEntryFromBeingWritten() async throws {
    let (scratch, pages) = (try await Scratch(), try await MoviePages.pages(["the"], 40))
    _ = try await scratch.trained(pages, ["zstd", "sealed"])
    let store = scratch.store(try Transforms.named(["zstd"], secrets: [Transforms.otherSecret]))
    let key = try MoviePages.key(0)
    try await store.write(key, payload: pages[0], metadata: scratch.metadata())
    #expect(try await scratch.stored(key).metadata.transforms == "zstd")
  }

  /// Another process trains while this one writes.
  @Test func anotherProcesssDictionaryIsUsedWithinAMinute() async throws {
    let (scratch, pages) = (try await Scratch(), try await MoviePages.pages(["the"], 40))
    let store = scratch.store(try Transforms.named(["zstd"]))
    try await store.write(MoviePages.key(100), payload: pages[0], metadata: scratch.metadata())
    _ = try await scratch.trained(pages)
    scratch.clock.advance(by: .seconds(61))
    try await store.write(MoviePages.key(100), payload: pages[0], metadata: scratch.metadata())
    #expect(try await scratch.stored(MoviePages.key(100)).metadata.transforms?.hasPrefix("zstd@") == true)
  }
}
