import CacheBase
import CacheCore
import EngineAPI
import FetchVocabulary
import MemoryStorage
import PlistStorage
import ResponseCache
import ResponseCacheTesting
import Synchronization
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite struct ValueTests {
  struct Account: Codable, Equatable {
    var owner: String
    var balance: Double
    var tags: [String]?
  }

  let clock = ManualClock()

  private func cache() async throws -> Cache { try await Cache.inMemory(clock: clock) }

  @Test func everyKindOfValueComesBackAsItWas() async throws {
    let cache = try await cache()
    try await cache.set("text with ü and \"quotes\"", for: "text")
    try await cache.set([UInt8]([0, 255, 10]), for: "bytes")
    try await cache.set(Data([0, 255, 10]), for: "data")
    try await cache.set(Data(), for: "no data")
    try await cache.set(42, for: "integer")
    try await cache.set(0.1 + 0.2, for: "fraction")
    try await cache.set([Int?]([1, nil]), for: "optionals")
    try await cache.set([Int](), for: "none")
    try await cache.set(String?.some("text"), for: "optional text")
    try await cache.set(String?.none, for: "no text")
    try await cache.set([UInt8]?.some([0, 255]), for: "optional bytes")
    try await cache.set([UInt8](), for: "no bytes")
    try await cache.set(["a": [1, 2]], for: "dictionary")
    try await cache.set(Account(owner: "Ann", balance: -1.5, tags: nil), for: "account")
    #expect(try await cache.value(String.self, for: "text") == "text with ü and \"quotes\"")
    #expect(try await cache.value([UInt8].self, for: "bytes") == [0, 255, 10])
    #expect(try await cache.value(Data.self, for: "data") == Data([0, 255, 10]))
    #expect(try await cache.value([UInt8].self, for: "data") == [0, 255, 10])
    #expect(try await cache.value(Data.self, for: "no data") == Data())
    #expect(try await cache.value(Int.self, for: "integer") == 42)
    #expect(try await cache.value(Double.self, for: "fraction") == 0.1 + 0.2)
    #expect(try await cache.value([Int?].self, for: "optionals") == [1, nil])
    #expect(try await cache.value([Int].self, for: "none") == [])
    #expect(try await cache.value(String?.self, for: "optional text") == .some("text"))
    #expect(try await cache.value(String?.self, for: "no text") == .some(nil))
    #expect(try await cache.value([UInt8]?.self, for: "optional bytes") == .some([0, 255]))
    #expect(try await cache.value([UInt8].self, for: "no bytes") == [])
    #expect(try await cache.value([String: [Int]].self, for: "dictionary") == ["a": [1, 2]])
    #expect(try await cache.value(Account.self, for: "account") == Account(owner: "Ann", balance: -1.5, tags: nil))
  }

  @Test(arguments: ["", "a", "/", "user/42", "ü", "%2F", "\n", String(repeating: "k", count: 16_000)])
  func anyTextIsAKey(key: String) async throws {
    let cache = try await cache()
    try await cache.set(key, for: key)
    #expect(try await cache.value(String.self, for: key) == key)
    #expect(try await cache.keys() == [key])
    #expect(try await cache.remove(key))
    #expect(try await cache.value(String.self, for: key) == nil)
  }

  @Test func aKeyThatIsTooLongIsAnError() async throws {
    let cache = try await cache()
    let error = await #expect(throws: CacheError.self) {
      try await cache.set(1, for: String(repeating: "k", count: 16_384))
    }
    #expect(error?.code == .invalidRequest)
  }

  @Test func keysAreFoundByTheBeginningOfTheirText() async throws {
    let cache = try await cache()
    for key in ["user/1", "user/2", "users", "ü/1"] { try await cache.set(1, for: key) }
    #expect(try await cache.keys(prefix: "user/") == ["user/1", "user/2"])
    #expect(try await cache.keys(prefix: "ü") == ["ü/1"])
    #expect(try await cache.keys(prefix: "x") == [])
  }

  @Test func aValueExpires() async throws {
    let cache = try await cache()
    try await cache.set(1, for: "short", expiresAfter: .seconds(10))
    try await cache.set(2, for: "long")
    clock.advance(by: .seconds(9))
    #expect(try await cache.value(Int.self, for: "short") == 1)
    clock.advance(by: .seconds(1))
    #expect(try await cache.value(Int.self, for: "short") == nil)
    #expect(try await cache.snapshot(Int.self, for: "short") == nil)
    clock.advance(by: .seconds(1_000_000_000))
    #expect(try await cache.value(Int.self, for: "long") == 2)
  }

  @Test func aStaleValueIsKeptForCallersThatAllowIt() async throws {
    let cache = try await cache()
    try await cache.set(1, for: "number", expiresAfter: .seconds(100), freshFor: .seconds(10))
    try await cache.set(2, for: "other")
    clock.advance(by: .seconds(10))
    #expect(try await cache.value(Int.self, for: "number") == nil)
    let snapshot = try #require(try await cache.snapshot(Int.self, for: "number"))
    #expect(snapshot.value == 1)
    #expect(snapshot.entry.isStale)
    #expect(snapshot.entry.key == "number")
    #expect(snapshot.entry.age == .seconds(10))
    #expect(try await cache.invalidate("other"))
    #expect(try await !cache.invalidate("other"))
    #expect(try await cache.value(Int.self, for: "other") == nil)
    #expect(try await cache.snapshot(Int.self, for: "other")?.value == 2)
  }

  @Test func anotherTypeUnderTheKeyIsAnErrorAndNoMiss() async throws {
    let cache = try await cache()
    try await cache.set(Account(owner: "Ann", balance: 1), for: "account")
    let error = await #expect(throws: CacheError.self) { try await cache.value([Int].self, for: "account") }
    #expect(error?.code == .wrongType)
    #expect(error?.message.contains("Array<Int>") == true)
    #expect(error?.hint == "read it as the type that was stored, or fetch or store it again")
    #expect(try await cache.value(Account.self, for: "account")?.owner == "Ann", "it is still there")
  }

  @Test func aTextIsNotANumberAndANumberNotAText() async throws {
    let cache = try await cache()
    try await cache.set("5", for: "text")
    try await cache.set(5, for: "number")
    try await cache.set([UInt8]("5".utf8), for: "bytes")
    for key in ["text", "number", "bytes"] {
      #expect((try? await cache.value(String.self, for: key)) == (key == "text" ? .some("5") : nil))
      #expect((try? await cache.value(Int.self, for: key)) == (key == "number" ? .some(5) : nil))
      #expect((try? await cache.value([UInt8].self, for: key)) == (key == "bytes" ? .some([53]) : nil))
    }
    let error = await #expect(throws: CacheError.self) { try await cache.value(Int.self, for: "text") }
    #expect(error?.code == .wrongType)
    #expect(error?.message.contains("it is text/plain") == true)
  }

  @Test func aValueThatCannotBeEncodedIsNotStored() async throws {
    let cache = try await cache()
    try await cache.set(1.0, for: "number")
    let error = await #expect(throws: CacheError.self) { try await cache.set(Double.nan, for: "number") }
    #expect(error?.code == .malformed)
    #expect(try await cache.value(Double.self, for: "number") == 1)
  }

  @Test func aCodecOfOnesOwnIsUsedAndItsDecodedValuesAreReused() async throws {
    let cache = try await cache()
    let decoded = Atomic(0)
    func codec(_ identifier: String = "reversed") -> PayloadCodec<[Int]> {
      PayloadCodec(
        identifier, encode: { $0.reversed().map { UInt8($0) } },
        decode: {
          decoded.add(1, ordering: .relaxed)
          return $0.reversed().map { Int($0) }
        })
    }
    try await cache.set([1, 2, 3], for: "numbers", codec: codec())
    for _ in 0..<10 { #expect(try await cache.value(for: "numbers", codec: codec()) == [1, 2, 3]) }
    #expect(decoded.load(ordering: .relaxed) == 1)
    #expect(try await cache.value([UInt8].self, for: "numbers") == [3, 2, 1])
    #expect(try await cache.value(for: "numbers", codec: codec("other")) == [1, 2, 3])
    #expect(decoded.load(ordering: .relaxed) == 2)
  }

  @Test func aPayloadThatACodecCannotDecodeIsOfAnotherType() async throws {
    struct Refusal: Error {}
    let cache = try await cache()
    let codec = PayloadCodec<Int>("numbers", encode: { [UInt8($0)] }, decode: { _ in throw Refusal() })
    try await cache.set(1, for: "number", codec: codec)
    let error = await #expect(throws: CacheError.self) { try await cache.value(for: "number", codec: codec) }
    #expect(error?.code == .wrongType && error?.cause is Refusal)
  }

  @Test func everythingIsRemovedAtOnce() async throws {
    let cache = try await cache()
    for number in 0..<100 { try await cache.set(number, for: "number \(number)") }
    #expect(try await cache.statistics().entries == 100)
    try await cache.removeAll()
    #expect(try await cache.keys() == [])
    #expect(try await cache.statistics().entries == 0)
  }

  @Test func statisticsCountHitsAndMisses() async throws {
    let cache = try await cache()
    try await cache.set(1, for: "number")
    _ = try await cache.value(Int.self, for: "number")
    _ = try await cache.value(Int.self, for: "none")
    let operations = try await cache.statistics().operations
    #expect(operations.hits == 1)
    #expect(operations.misses == 1)
  }

  @Test func statisticsAreMadeToBePrinted() async throws {
    let cache = try await cache()
    try await cache.set(["a": 1, "b": 22])
    _ = try await cache.value(Int.self, for: "a")
    let statistics = try await cache.statistics()
    #expect("\(statistics)" == "2 entries, 3 payload bytes, 1 hits, 0 misses, 0 evictions")
    #expect(statistics.namespaces["values"]?.payloadBytes == 3)
    #expect("\(CacheError.Code.notCached)" == "notCached")
  }

  @Test func severalValuesAreStoredReadAndRemovedAtOnce() async throws {
    let cache = try await Cache.inMemory(clock: clock, limits: StoreLimits(maxEntries: 4, maxBytes: 100))
    try await cache.set(["old 1": 0, "old 2": 0])
    clock.advance(by: .seconds(1))
    try await cache.set(["a/1": 1, "a/2": 2, "b/1": 3], expiresAfter: .seconds(10))
    #expect(try await cache.keys().count == 4, "the limits hold")
    #expect(try await cache.values(Int.self, for: ["a/1", "b/1", "c"]) == ["a/1": 1, "b/1": 3])
    let error = await #expect(throws: CacheError.self) {
      try await cache.set(["a/1": String(repeating: "x", count: 60), "c": String(repeating: "x", count: 60)])
    }
    #expect(error?.code == .tooLarge)
    #expect(try await cache.value(Int.self, for: "a/1") == 1, "nothing was stored")
    #expect(try await cache.invalidateAll(prefix: "a/") == 2)
    #expect(try await cache.values(Int.self, for: ["a/1", "a/2", "b/1"]) == ["b/1": 3])
    #expect(try await cache.removeAll(prefix: "a/") == 2)
    #expect(try await cache.remove(["b/1", "c"]) == 1)
    try await cache.set([String: Int]())
  }

  @Test func valuesOfOneVersionAreNotUsedForAnother() async throws {
    let cache = try await cache()
    try await cache.set("text", for: "a/1")
    try await cache.set(1, for: "a/1", version: 2)
    #expect(try await cache.value(String.self, for: "a/1") == "text")
    #expect(try await cache.value(Int.self, for: "a/1", version: 2) == 1)
    #expect(try await cache.snapshot(Int.self, for: "a/1", version: 3) == nil)
    try await cache.set(1, for: "a/2", version: 2)
    #expect(try await cache.keys(prefix: "a/") == ["a/1"])
    #expect(try await cache.keys(prefix: "a/", version: 2) == ["a/1", "a/2"])
    try await cache.set(1, for: "", version: 2)
    #expect(try await cache.keys() == ["a/1"])
    #expect(try await cache.keys(version: 2) == ["", "a/1", "a/2"])
    #expect(try await cache.remove("a/1", version: 2))
    #expect(try await cache.value(String.self, for: "a/1") == "text")
  }

  @Test func aValueThatIsNotThereIsFetchedOnceForAllCallers() async throws {
    let cache = try await cache()
    let origin = FakeOrigin { (number: Int) in "\(number)" }
    @Sendable func one() async throws -> String {
      try await cache.value(for: "one", expiresAfter: .seconds(10)) { try await origin.fetch(1) }
    }
    origin.hold()
    let calls = (0..<5).map { _ in Task { try await one() } }
    await origin.arrival(of: 1)
    origin.release()
    for call in calls { #expect(try await call.value == "1") }
    #expect(origin.queries == [1])
    #expect(try await cache.value(String.self, for: "one") == "1", "it is a value like any other")
    try await cache.set("uno", for: "one", expiresAfter: .seconds(5))
    #expect(try await one() == "uno")
    clock.advance(by: .seconds(5))
    #expect(try await one() == "1")
    clock.advance(by: .seconds(10))
    struct Failure: Error {}
    origin.fail(with: Failure())
    await #expect(throws: Failure.self) { try await one() }
    #expect(origin.queries.count == 3)
    let statistics = try await cache.statistics()
    #expect(statistics.operations.misses == 7, "five callers and two later ones found nothing")
  }

  @Test func aValueThatIsSetDuringTheFetchStays() async throws {
    let cache = try await cache()
    let origin = FakeOrigin { (_: Int) in "old" }
    origin.hold()
    let call = Task { try await cache.value(for: "one") { try await origin.fetch(1) } }
    await origin.arrival(of: 1)
    try await cache.set("new", for: "one")
    origin.release()
    #expect(try await call.value == "old")
    #expect(try await cache.value(String.self, for: "one") == "new")
  }

  @Test func aFetchedValueReplacesOneThatIsStaleOrOfAnotherType() async throws {
    let cache = try await cache()
    try await cache.set("stale", for: "one", freshFor: .seconds(10))
    try await cache.set(1, for: "two")
    clock.advance(by: .seconds(10))
    for key in ["one", "two"] {
      #expect(try await cache.value(for: key) { "fetched" } == "fetched")
      #expect(try await cache.value(String.self, for: key) == "fetched")
    }
  }

  @Test func aStoreThatCannotBeOpenedIsReplacedIfTheProgramSaysSo() async throws {
    let warnings = Warnings()
    let nowhere = StorageLocation.plist(path: "/dev/null/store")
    let error = await #expect(throws: CacheError.self) { try await Cache(nowhere) }
    let cache = try await Cache(nowhere, fallback: .memory, warn: warnings.add)
    #expect(warnings.codes == [error?.code])
    try await cache.set(1, for: "number")
    #expect(try await cache.value(Int.self, for: "number") == 1)
    let mistake = await #expect(throws: CacheError.self) {
      try await Cache(nowhere, limits: StoreLimits(maxEntries: 0), fallback: .memory)
    }
    #expect(mistake?.code == .invalidOption)
  }

  @Test func limitsHold() async throws {
    let limits = StoreLimits(maxEntries: 3, maxBytes: 1_000)
    let cache = try await Cache.inMemory(clock: clock, limits: limits)
    for number in 0..<10 {
      try await cache.set(number, for: "\(number)")
      clock.advance(by: .seconds(1))
    }
    #expect(try await cache.keys() == ["7", "8", "9"])
    let error = await #expect(throws: CacheError.self) {
      try await cache.set([UInt8](repeating: 0, count: 1_001), for: "large")
    }
    #expect(error?.code == .tooLarge)
  }

  @Test func expiredEntriesAreRemovedEvenWithoutLimits() async throws {
    let cache = try await Cache.inMemory(clock: clock, limits: nil)
    for number in 0..<100 { try await cache.set(number, for: "old \(number)", expiresAfter: .seconds(1)) }
    clock.advance(by: .seconds(2))
    // Each look finds sixteen, and every eighth write looks.
    for number in 0..<2_000 { try await cache.set(number, for: "new", expiresAfter: nil) }
    #expect(try await cache.statistics().entries == 1)
  }

  @Test func aCancelledTaskGetsTheCodeCancelled() async throws {
    let cache = try await cache()
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await cache.keys()
    }
    #expect(await #expect(throws: CacheError.self) { try await task.value }?.code == .cancelled)
    let write = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await cache.set(1, for: "written by a cancelled task")
    }
    #expect(await #expect(throws: CacheError.self) { try await write.value }?.code == .cancelled)
    #expect(try await cache.keys().isEmpty)
  }

  @Test(arguments: [1, EntryStore.smallPayload, EntryStore.smallPayload + 1])
  @MainActor func onlySmallEntriesAreDecodedOnTheCallersActor(size: Int) async throws {
    let isSmall = size <= EntryStore.smallPayload
    let cache = try await cache()
    let main = pthread_self()
    let isOnMainActor = Mutex<[Bool]>([])
    let codec = PayloadCodec<Int>(
      "isolation", encode: { [UInt8](repeating: 7, count: $0) },
      decode: { bytes in
        isOnMainActor.withLock { $0.append(pthread_equal(pthread_self(), main) != 0) }
        return bytes.count
      })
    try await cache.set(size, for: "size", codec: codec)
    let resource = try cache.resource("sizes", key: { (size: Int) in "\(size)" }, codec: codec) { $0 }
    for try await snapshot in resource.snapshots(for: size) { #expect(snapshot.value == size) }
    // Its turn comes when this function leaves the actor.
    let hasLeft = Mutex(false)
    let other = Task { @MainActor in hasLeft.withLock { $0 = true } }
    #expect(try await cache.value(for: "size", codec: codec) == size)
    #expect(try await resource(size) == size)
    #expect(isOnMainActor.withLock { $0 } == [isSmall, isSmall])
    #expect(hasLeft.withLock { $0 } == !isSmall)
    await other.value
    let operations = try await cache.statistics().operations
    #expect(operations.hits == 2 && operations.misses == 1)
  }

  @Test @MainActor func aMissingEntryIsNoticedOnTheCallersActor() async throws {
    let cache = try await cache()
    try await cache.set(1, for: "stored")
    let hasLeft = Mutex(false)
    let other = Task { @MainActor in hasLeft.withLock { $0 = true } }
    #expect(try await cache.value(Int.self, for: "none") == nil)
    #expect(try await cache.value(for: "stored") { 2 } == 1)
    #expect(hasLeft.withLock { $0 } == false)
    #expect(try await cache.value(for: "none") { 3 } == 3)
    await other.value
    let operations = try await cache.statistics().operations
    #expect(operations.hits == 1 && operations.misses == 2)
  }
}

/// Values that are at hand because they were read before: the third read of an entry needs the engine no more.
@Suite struct KeptValueTests {
  private static let readsBefore = 3

  let clock = ManualClock(.start)
  let origin = FakeOrigin { (number: Int) in "\(number)" }

  private func cache() async throws -> Cache { try await Cache.inMemory(clock: clock) }

  private func numbers(_ cache: Cache) throws -> Resource<Int, String> {
    try cache.resource("numbers", freshFor: .seconds(100), fetch: origin.fetch)
  }

  @Test func aKeptValueIsReadAsAnyOther() async throws {
    let cache = try await cache()
    try await cache.set("one", for: "number", expiresAfter: .seconds(100), freshFor: .seconds(50))
    for _ in 0...Self.readsBefore { #expect(try await cache.value(String.self, for: "number") == "one") }
    #expect(try await cache.snapshot(String.self, for: "number")?.entry.isStale == false)
    await #expect(throws: CacheError.self) { try await cache.value(Int.self, for: "number") }
    clock.advance(by: .seconds(60))
    #expect(try await cache.value(String.self, for: "number") == nil)
    #expect(try await cache.snapshot(String.self, for: "number")?.entry.isStale == true)
    clock.advance(by: .seconds(60))
    #expect(try await cache.snapshot(String.self, for: "number")?.value == nil)
  }

  @Test func aChangeIsSeenAtOnce() async throws {
    let cache = try await cache()
    for value in ["one", "two"] {
      try await cache.set(value, for: "number")
      for _ in 0...Self.readsBefore { #expect(try await cache.value(String.self, for: "number") == value) }
    }
    try await cache.remove("number")
    #expect(try await cache.value(String.self, for: "number") == nil)
    try await cache.close()
    let error = await #expect(throws: CacheError.self) { try await cache.value(String.self, for: "number") }
    #expect(error?.code == .closed)
  }

  @Test func eachReadCountsOnce() async throws {
    let cache = try await cache()
    try await cache.set("one", for: "number")
    for _ in 0..<10 { _ = try await cache.value(String.self, for: "number") }
    #expect(try await cache.statistics().operations.hits == 10)
    for _ in 0..<10 { _ = try await numbers(cache)(1) }
    #expect(try await cache.statistics().operations.hits == 19)
    #expect(try await cache.statistics().operations.misses == 1)
  }

  @Test func aKeptValueIsNotFetchedWhileItIsFresh() async throws {
    let (cache, origin) = (try await cache(), origin)
    @Sendable func one() async throws -> String {
      try await cache.value(for: "one", expiresAfter: .seconds(100)) { try await origin.fetch(1) }
    }
    for _ in 0...Self.readsBefore { #expect(try await one() == "1") }
    #expect(origin.queries == [1])
    #expect(try await cache.statistics().operations.hits == Self.readsBefore)
    try await cache.set("uno", for: "one")
    for _ in 0...Self.readsBefore { #expect(try await one() == "uno") }
    try await cache.invalidate("one")
    #expect(try await one() == "1")
    #expect(origin.queries.count == 2)
  }

  @Test func theRulesDecideAboutADecodedValue() async throws {
    let numbers = try numbers(try await cache())
    for _ in 0...Self.readsBefore { #expect(try await numbers(1) == "1") }
    #expect(origin.queries == [1])
    #expect(try await numbers(1, policy: .networkOnly) == "1")
    for _ in 0...Self.readsBefore { _ = try await numbers(1, policy: .cachedThenNetwork) }
    #expect(origin.queries.count == 2)
    clock.advance(by: .seconds(50))
    #expect(try await numbers(1, maxAge: .seconds(60)) == "1")
    #expect(origin.queries.count == 2)
    #expect(try await numbers(1, maxAge: .seconds(40)) == "1")
    #expect(origin.queries.count == 3)
    for _ in 0...Self.readsBefore { _ = try await numbers(1) }
    clock.advance(by: .seconds(100))
    #expect(try await numbers(1, policy: .cacheOnly) == "1")
    #expect(origin.queries.count == 3)
    #expect(try await numbers(1) == "1")
    #expect(origin.queries.count == 4)
  }

  @Test func aCancelledTaskGetsNoDecodedValue() async throws {
    let numbers = try numbers(try await cache())
    for _ in 0...Self.readsBefore { _ = try await numbers(1) }
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await numbers(1)
    }
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test @MainActor func aKeptValueDoesNotLeaveTheCallersActor() async throws {
    let cache = try await cache()
    let numbers = try numbers(cache)
    try await cache.set("one", for: "number")
    for _ in 0..<Self.readsBefore {
      _ = try await cache.value(String.self, for: "number")
      _ = try await numbers(1)
    }
    let hasLeft = Mutex(false)
    // Runs as soon as this function leaves the actor.
    let other = Task { @MainActor in hasLeft.withLock { $0 = true } }
    #expect(try await cache.value(String.self, for: "number") == "one")
    #expect(try await numbers(1) == "1")
    #expect(hasLeft.withLock { $0 } == false)
    await other.value
  }
}
