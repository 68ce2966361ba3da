import FetchVocabulary
import StorageConformance
import StorageSPI
import Testing

@testable import ResponseStorage

/// Other processes remove dictionaries and write them again while this one writes: no entry becomes unreadable.
struct DictionaryRaceTests {
  /// No limits, and limits that make each write evict another entry.
  private static let limits: [StoreLimits?] = [nil, StoreLimits(maxEntries: 40, maxBytes: 1 << 30)]

  @Test(arguments: TestedEngine.all, limits)
  func aDictionaryThatIsGoneIsNotWrittenWith(engine: TestedEngine, limits: StoreLimits?) async throws {
    let (scratch, pages) = (try await Scratch(engine), try await MoviePages.pages(["the"], 40))
    _ = try await scratch.trained(pages)
    let store = scratch.store(try Transforms.named(["zstd"]), limits: limits)
    let (first, second) = (try MoviePages.key(100), try MoviePages.key(101))
    try await store.write(first, payload: pages[0], metadata: scratch.metadata())
    #expect(try await scratch.stored(first).metadata.transforms?.hasPrefix("zstd@") == true)
    try await scratch.remove(scratch.dictionaries())
    try await store.write(second, payload: pages[1], metadata: scratch.metadata())
    #expect(try await scratch.stored(second).metadata.transforms == "zstd")
    #expect(try await scratch.store(try Transforms.named([])).payload(second)?.payload == pages[1])
  }

  @Test func aDictionaryThatWasWrittenAgainIsStillUsed() async throws {
    let (scratch, pages) = (try await Scratch(), try await MoviePages.pages(["the"], 40))
    _ = try await scratch.trained(pages)
    let (store, key) = (scratch.store(try Transforms.named(["zstd"])), try MoviePages.key(100))
    try await store.write(key, payload: pages[0], metadata: scratch.metadata())
    let dictionary = try #require(try await scratch.dictionaries().first)
    var (payload, metadata) = try await scratch.stored(dictionary)
    metadata.freshUntil = scratch.clock.now
    try await scratch.replace(dictionary, payload, metadata, isSound: true)
    payload = pages[1]
    try await store.write(key, payload: payload, metadata: scratch.metadata())
    #expect(try await scratch.stored(key).metadata.transforms?.hasPrefix("zstd@") == true)
    #expect(try await scratch.store(try Transforms.named([])).payload(key)?.payload == payload)
  }

  @Test func aConflictOfTheCallersOwnStaysOne() async throws {
    let (scratch, pages) = (try await Scratch(), try await MoviePages.pages(["the"], 40))
    _ = try await scratch.trained(pages)
    let (store, key) = (scratch.store(try Transforms.named(["zstd"])), try MoviePages.key(0))
    let found = await code { () async throws(CacheError) in
      try await store.write(key, payload: pages[1], metadata: scratch.metadata(), expecting: .absent)
    }
    #expect(found == .conflict)
    #expect(try await store.payload(key)?.payload == pages[0])
  }

  /// A process writes with a dictionary after the entries were removed, and before the dictionaries are.
  @Test func removingAllLeavesNothingThatCannotBeRead() async throws {
    let (scratch, pages) = (try await Scratch(), try await MoviePages.pages(["the"], 40))
    _ = try await scratch.trained(pages)
    let (writer, key) = (scratch.store(try Transforms.named(["zstd"])), try MoviePages.key(0))
    let engine = RacedEngine(over: scratch.engine, before: \.changesDictionary) { () async throws(CacheError) in
      try await writer.write(key, payload: pages[0], metadata: scratch.metadata())
    }
    let store = EntryStore(engine: engine, clock: scratch.clock)
    try await StoreAdministration(store: store, ledger: MemoryOperationLedger()).removeAll { _ in }
    #expect(try await scratch.dictionaries().isEmpty)
    #expect(try await scratch.administration().verify().issues.isEmpty)
    #expect(try await scratch.engine.statistics().tally.total().entries == 0)
  }
}
