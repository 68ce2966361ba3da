import CacheDomain
import StorageConformance
import StorageSPI
import Synchronization
import Testing

@testable import ResponseStorage

struct EntryUsesTests {
  private static func use(_ last: Int64, _ count: Int64) -> EntryUse {
    EntryUse(lastUsedAt: Timestamp(milliseconds: last), count: count)
  }

  /// A log that counts its calls, and may fail.
  private final class CountingLog: UseLog {
    let base = MemoryUseLog()
    let calls = Mutex(0)
    let failure: CacheError?

    init(failure: CacheError? = nil) { self.failure = failure }

    func add(_ records: [UseRecord]) throws(CacheError) {
      calls.withLock { $0 += 1 }
      if let failure { throw failure }
      try base.add(records)
    }

    func snapshot() throws(CacheError) -> any UseSnapshot { try base.snapshot() }
  }

  @Test func usesAreGatheredAndAddedInBulk() async throws {
    let log = CountingLog()
    let uses = EntryUses(log: log)
    let keys = try (0..<3).map { try CacheKey("a/\($0)") }
    for (key, time) in [(0, 5), (1, 6), (0, 9), (0, 7)] as [(Int, Int64)] {
      uses.record(keys[key], at: Timestamp(milliseconds: time))
    }
    let expected = [Self.use(9, 3), Self.use(6, 1), EntryUse()]
    #expect(try uses.uses(of: keys) == expected)
    #expect(log.calls.withLock { $0 } == 0, "reading never writes")
    try await uses.flush()
    try await uses.flush()
    #expect(log.calls.withLock { $0 } == 1)
    #expect(try uses.uses(of: keys) == expected)
    uses.record(keys[2], at: Timestamp(milliseconds: 1))
    #expect(try EntryUses(log: log).uses(of: keys) == expected, "another handle knows what was added to the log")
    #expect(try uses.uses(of: keys) == [expected[0], expected[1], Self.use(1, 1)])
  }

  @Test func restoringTwiceIsRestoringOnce() async throws {
    let uses = EntryUses()
    let keys = try (0..<3).map { try CacheKey("a/\($0)") }
    uses.record(keys[0], at: Timestamp(milliseconds: 5))
    uses.record(keys[1], at: Timestamp(milliseconds: 50))
    let moved = [keys[0]: Self.use(9, 3), keys[1]: Self.use(9, 4), keys[2]: Self.use(7, 1)]
    for _ in 0..<3 {
      try uses.restore(moved)
      #expect(try uses.uses(of: keys) == [Self.use(9, 3), Self.use(50, 4), Self.use(7, 1)])
      try await uses.flush()
    }
    try uses.restore([keys[0]: Self.use(1, 1)])
    #expect(try uses.uses(of: [keys[0]]) == [Self.use(9, 3)], "what is known is not made less")
  }

  @Test func manyAreAddedInTheBackground() async throws {
    let log = CountingLog()
    let uses = EntryUses(log: log)
    let count = EntryUses.maximumPending + 100
    for number in 0..<count { uses.record(try CacheKey("a/\(number)"), at: Timestamp(milliseconds: 7)) }
    let all = try (0..<count).map { try CacheKey("a/\($0)") }
    #expect(try uses.uses(of: all).allSatisfy { $0.count >= 1 }, "nothing is forgotten on its way")
    try await uses.flush()
    #expect(log.calls.withLock { $0 } == 2)
    #expect(try uses.uses(of: all).allSatisfy { $0 == Self.use(7, 1) })
  }

  @Test func aFailureInTheBackgroundIsToldInTheEnd() async throws {
    let uses = EntryUses(log: CountingLog(failure: CacheError(.ioFailed, "full")))
    for number in 0..<EntryUses.maximumPending {
      uses.record(try CacheKey("a/\(number)"), at: Timestamp(milliseconds: 7))
    }
    #expect(await errorCode { () async throws(CacheError) in try await uses.flush() }?.rawValue == "ioFailed")
    #expect(await errorCode { () async throws(CacheError) in try await uses.flush() } == nil)
  }

  @Test func theMemoryLogForgetsWhatWasUsedTheLongestAgo() throws {
    let log = MemoryUseLog(capacity: 10)
    for number in UInt64(0)..<21 {
      try log.add([UseRecord(digest: number, use: Self.use(Int64(number), 1))])
    }
    let snapshot = try log.snapshot()
    #expect((UInt64(0)..<21).filter { snapshot.use(of: $0) != nil } == Array(11..<21))
  }

  @Test(arguments: [(0, 0), (1, 1), (1_700_000_000_000, 1 << 40), (253_402_300_799_999, .max)] as [(Int64, Int64)])
  func aRecordComesBackOrIsKnownToBeDamaged(last: Int64, count: Int64) throws {
    let record = UseRecord(digest: UseRecord.digest(of: try CacheKey("a/1")), use: Self.use(last, count))
    var bytes: [UInt8] = [7]
    record.append(to: &bytes)
    let whole = Array(bytes.dropFirst())
    #expect(whole.count == UseRecord.size)
    #expect(whole.withUnsafeBytes { UseRecord($0) } == record)
    for length in 0..<UseRecord.size { #expect(whole.prefix(length).withUnsafeBytes { UseRecord($0) } == nil) }
    for bit in 0..<(8 * UseRecord.size) {
      var damaged = whole
      damaged[bit / 8] ^= 1 << (bit % 8)
      #expect(damaged.withUnsafeBytes { UseRecord($0) } == nil, "bit \(bit)")
    }
    #expect([UInt8](repeating: 0, count: UseRecord.size).withUnsafeBytes { UseRecord($0) } == nil)
  }

  @Test func aHitIsAUseAndAMissIsNone() async throws {
    let test = try await TestStore()
    let (key, other) = (try CacheKey("a/1"), try CacheKey("a/2"))
    test.store.countLookUp(key)
    test.store.countLookUp(nil)
    #expect(try test.store.uses.uses(of: [key, other]) == [Self.use(1_000_000, 1), EntryUse()])
    #expect(test.store.usage.current == UsageCounts(hits: 1, misses: 1))
  }

  @Test func countsStopAtTheLargestNumber() {
    #expect(Self.use(1, .max) + Self.use(2, 1) == Self.use(2, .max))
  }
}
