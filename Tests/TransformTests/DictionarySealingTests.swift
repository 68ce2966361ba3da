import FetchVocabulary
import StorageConformance
import StorageSPI
import Testing

@testable import ResponseStorage

/// A dictionary holds parts of what was stored, so it is sealed as soon as entries are.
struct DictionarySealingTests {
  private static let chain = ["zstd", "sealed"]

  /// Expects that the only dictionary is sealed, and what it was in the clear.
  private func expectSealed(_ scratch: Scratch, _ before: EntryAsStored) async throws {
    let dictionary = try #require(try await scratch.dictionaries().first)
    let (payload, metadata) = try await scratch.stored(dictionary)
    #expect(metadata.transforms?.hasPrefix("sealed:") == true)
    #expect(metadata.storedAt == before.metadata.storedAt)
    #expect(payload.count == before.payload.count + 40)
    #expect(!payload.contains(before.payload.suffix(200)))
    #expect(try await scratch.store(try Transforms.named([])).payload(dictionary)?.payload == before.payload)
    #expect(try await scratch.administration().verify().issues.isEmpty)
  }

  private func dictionaryInTheClear(_ scratch: Scratch, _ pages: [[UInt8]]) async throws -> EntryAsStored {
    _ = try await scratch.trained(pages)
    let (payload, metadata) = try await scratch.stored(try #require(try await scratch.dictionaries().first))
    #expect(metadata.transforms == nil)
    scratch.clock.advance(by: .seconds(10))
    return EntryAsStored(payload: payload, metadata: metadata)
  }

  @Test(arguments: TestedEngine.all)
  func theFirstWriteSealsADictionaryFromBefore(engine: TestedEngine) async throws {
    let (scratch, pages) = (try await Scratch(engine), try await MoviePages.pages(["the"], 40))
    let before = try await dictionaryInTheClear(scratch, pages)
    let (store, key) = (scratch.store(try Transforms.named(Self.chain)), try MoviePages.key(0))
    try await store.write(key, payload: pages[0], metadata: scratch.metadata())
    #expect(try await scratch.stored(key).metadata.transforms?.hasPrefix("zstd@") == true)
    try await expectSealed(scratch, before)
    try await scratch.expectReadable(pages)
  }

  @Test func trainingSealsADictionaryThatStays() async throws {
    let (scratch, pages) = (try await Scratch(), try await MoviePages.pages(["the"], 40))
    let before = try await dictionaryInTheClear(scratch, pages)
    let report = try await scratch.administration(try Transforms.named(Self.chain)).train()
    #expect(report.first?.dictionaryBytes == nil)
    try await expectSealed(scratch, before)
  }

  @Test func twoProcessesMaySealItAtOnce() async throws {
    let (scratch, pages) = (try await Scratch(), try await MoviePages.pages(["the"], 40))
    let before = try await dictionaryInTheClear(scratch, pages)
    let (other, key) = (scratch.store(try Transforms.named(Self.chain)), try MoviePages.key(0))
    let engine = RacedEngine(over: scratch.engine, before: \.changesDictionary) { () async throws(CacheError) in
      try await other.write(key, payload: pages[0], metadata: scratch.metadata())
    }
    let store = EntryStore(engine: engine, clock: scratch.clock, transforms: try Transforms.named(Self.chain))
    try await store.write(MoviePages.key(1), payload: pages[1], metadata: scratch.metadata())
    #expect(try await scratch.stored(MoviePages.key(1)).metadata.transforms?.hasPrefix("zstd@") == true)
    try await expectSealed(scratch, before)
    try await scratch.expectReadable(pages)
  }

  @Test func aProcessThatDoesNotSealLeavesItSealed() async throws {
    let (scratch, pages) = (try await Scratch(), try await MoviePages.pages(["the"], 40))
    _ = try await scratch.trained(pages, Self.chain)
    let dictionary = try #require(try await scratch.dictionaries().first)
    let before = try await scratch.stored(dictionary).payload
    try await scratch.store(try Transforms.named(["zstd"])).write(
      MoviePages.key(0), payload: pages[0], metadata: scratch.metadata())
    #expect(try await scratch.stored(dictionary).payload == before)
  }
}
