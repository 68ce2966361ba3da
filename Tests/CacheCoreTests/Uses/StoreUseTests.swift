import FetchVocabulary
import Foundation
import EngineConformance
import EngineAPI
import Synchronization
import TestStorage
import Testing

@testable import CacheCore

/// The uses of a store that a process knows, and the time when it writes them.
@Suite final class StoreUseTests {
  private let folder = NSTemporaryDirectory() + "store-use-" + UUID().uuidString

  init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false) }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  private static func history(_ last: Int64, _ count: Int64) -> AccessHistory {
    AccessHistory(lastUsedAt: Timestamp(milliseconds: last), count: count)
  }

  private var table: UseTable { UseTable(path: folder + "/x.uses", capacity: 200_000) }

  private var fileExists: Bool { FileManager.default.fileExists(atPath: folder + "/x.uses") }

  /// A file of someone else, which refuses all uses.
  private func refuse() throws { try Data("mine".utf8).write(to: URL(fileURLWithPath: folder + "/x.uses")) }

  @Test func usesAreGatheredAndAddedInBulk() async throws {
    let uses = StoreUse(table)
    let keys = try (0..<3).map { try CacheKey("a/\($0)") }
    for (key, time) in [(0, 5), (1, 6), (0, 9), (0, 7)] as [(Int, Int64)] {
      uses.countLookUp(AccessRecord.digest(of: keys[key]), at: Timestamp(milliseconds: time))
    }
    uses.countLookUp(nil, at: Timestamp(milliseconds: 8))
    let expected = [Self.history(9, 3), Self.history(6, 1), AccessHistory()]
    #expect(try uses.histories(of: keys) == expected)
    #expect(!fileExists, "reading never writes")
    for _ in 0..<2 { try await uses.write() }
    #expect(try uses.histories(of: keys) == expected)
    #expect(try table.counts() == OperationCounts(hits: 4, misses: 1))
    uses.record(keys[2], at: Timestamp(milliseconds: 1))
    uses.count(evictions: 2)
    #expect(try StoreUse(table).histories(of: keys) == expected, "another process knows what was written")
    #expect(try uses.histories(of: keys) == [expected[0], expected[1], Self.history(1, 1)])
    #expect(uses.counts == OperationCounts(hits: 4, misses: 1, evictions: 2))
    #expect(try uses.totals() == uses.counts && StoreUse(table).totals() == OperationCounts(hits: 4, misses: 1))
    #expect(StoreUse(table).counts == OperationCounts())
  }

  @Test func nothingIsWrittenIfNothingHasHappened() async throws {
    try await StoreUse(table).write()
    #expect(!fileExists)
  }

  /// Only the close of a store writes without a later chance: the uses are lost then, and nothing but an order with them.
  @Test func theCountsThatTheFileRefusesAreAddedLater() async throws {
    try refuse()
    let uses = StoreUse(table)
    let key = try CacheKey("a/1")
    for time in 1...100 { uses.countLookUp(AccessRecord.digest(of: key), at: Timestamp(milliseconds: Int64(time))) }
    uses.keep(EvictionSweep(at: key))
    for _ in 0..<2 { await #expect(throws: CacheError.self) { try await uses.write() } }
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder + "/x.uses")) == Data("mine".utf8))
    try FileManager.default.removeItem(atPath: folder + "/x.uses")
    try await uses.write()
    #expect(try table.counts() == OperationCounts(hits: 100) && table.sweep() != nil)
  }

  @Test func restoringTwiceIsRestoringOnce() async throws {
    let uses = StoreUse(table)
    let keys = try (0..<3).map { try CacheKey("a/\($0)") }
    uses.record(keys[0], at: Timestamp(milliseconds: 5))
    uses.record(keys[1], at: Timestamp(milliseconds: 50))
    let moved = [keys[0]: Self.history(9, 3), keys[1]: Self.history(9, 4), keys[2]: Self.history(7, 1)]
    for _ in 0..<3 {
      try uses.restore(moved)
      #expect(try uses.histories(of: keys) == [Self.history(9, 3), Self.history(50, 4), Self.history(7, 1)])
      try await uses.write()
    }
    try uses.restore([keys[0]: Self.history(1, 1)])
    #expect(try uses.histories(of: [keys[0]]) == [Self.history(9, 3)], "known uses are not reduced")
  }

  /// Looks a key up `count` times, at times `step` milliseconds apart, and waits for each write meanwhile.
  private func useOften(_ uses: StoreUse, _ count: Int, step: Int64, from start: Int64 = 1_000_000) async throws {
    let digest = AccessRecord.digest(of: try CacheKey("a/1"))
    for number in 0..<Int64(count) { uses.countLookUp(digest, at: Timestamp(milliseconds: start + number * step)) }
    await uses.finishWriting()
  }

  @Test func usesAreWrittenInTheBackgroundAtMostOnceInAnInterval() async throws {
    let uses = StoreUse(table)
    let (few, interval) = (StoreUse.maximumRecent, StoreUse.interval.components.seconds * 1_000)
    try await useOften(uses, few - 1, step: interval)
    #expect(!fileExists, "too few")
    let start = 1_000_000 + Int64(few) * interval
    // Of no length: however many there are, they are written later.
    try await useOften(uses, 1_000 * few + 1, step: 0, from: start)
    #expect(!fileExists)
    try await useOften(uses, few, step: 0, from: start + interval - 1)
    #expect(!fileExists)
    try await useOften(uses, few, step: 0, from: start + interval)
    let hits = try table.counts().hits
    #expect(hits == 1_003 * few)
    try await useOften(uses, few, step: 0, from: start + interval)
    #expect(try table.counts().hits == hits)
    // After the clock was set back.
    try await useOften(uses, few, step: 1, from: 0)
    #expect(try table.counts().hits > hits)
    try await uses.write()
    #expect(try table.counts() == uses.counts)
    #expect(try StoreUse(table).histories(of: [try CacheKey("a/1")]).first?.count == Int64(uses.counts.hits))
  }

  /// A later use by more than a day looks like a clock that was set back if it is added before the earlier ones.
  @Test func aUseAfterALongPauseIsTheLast() async throws {
    let uses = StoreUse(table)
    let later = 1_000_000 + 2 * Int64(86_400_000)
    try await useOften(uses, StoreUse.maximumRecent, step: 0)
    try await useOften(uses, 1, step: 0, from: later)
    try await uses.write()
    let known = try StoreUse(table).histories(of: [try CacheKey("a/1")])
    #expect(known == [Self.history(later, Int64(StoreUse.maximumRecent) + 1)])
  }

  /// Also for a repair, which reads the damaged store.
  @Test func aStoreThatIsOnlyReadWritesNothing() async throws {
    let key = try CacheKey("a/1")
    try table.add([AccessRecord(digest: AccessRecord.digest(of: key), history: Self.history(5, 2))])
    let before = try Data(contentsOf: URL(fileURLWithPath: folder + "/x.uses"))
    let uses = StoreUse(table, isReadOnly: true)
    #expect(try uses.histories(of: [key]) == [Self.history(5, 2)])
    try await useOften(uses, 1_000, step: 1_000)
    for number in 0..<StoreUse.maximumPending + 100 {
      uses.record(try CacheKey("b/\(number)"), at: Timestamp(milliseconds: 7))
    }
    await uses.finishWriting()
    try await uses.write()
    #expect(try uses.histories(of: [key]).first?.count == 1_002)
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder + "/x.uses")) == before)
    #expect(try uses.totals().hits == 1_000)
  }

  @Test func usesOfManyEntriesAreWrittenInTheBackground() async throws {
    let uses = StoreUse(table)
    let count = StoreUse.maximumPending + 100
    for number in 0..<count { uses.record(try CacheKey("a/\(number)"), at: Timestamp(milliseconds: 7)) }
    let all = try (0..<count).map { try CacheKey("a/\($0)") }
    #expect(try uses.histories(of: all).allSatisfy { $0.count >= 1 }, "no use is lost meanwhile")
    await uses.finishWriting()
    #expect(try StoreUse(table).histories(of: all).count { $0.count == 1 } >= StoreUse.maximumPending)
    try await uses.write()
    #expect(try StoreUse(table).histories(of: all).allSatisfy { $0 == Self.history(7, 1) })
  }

  @Test func aFailureInTheBackgroundIsReportedAtTheEnd() async throws {
    try refuse()
    let uses = StoreUse(table)
    for number in 0..<StoreUse.maximumPending {
      uses.countLookUp(AccessRecord.digest(of: try CacheKey("a/\(number)")), at: Timestamp(milliseconds: 7))
    }
    await uses.finishWriting()
    try FileManager.default.removeItem(atPath: folder + "/x.uses")
    #expect(await errorCode { try await uses.write() } == .cannotCreate)
    #expect(await errorCode { try await uses.write() } == nil)
    #expect(try table.counts().hits == StoreUse.maximumPending, "the counts are kept")
  }

  @Test func memoryForgetsTheLeastRecentlyUsed() throws {
    let uses = StoreUse(capacity: 10)
    let keys = try (0..<21).map { try CacheKey("a/\($0)") }
    for (number, key) in keys.enumerated() { uses.record(key, at: Timestamp(milliseconds: Int64(number))) }
    #expect(
      try uses.histories(of: keys).map(\.count) == Array(repeating: 0, count: 10) + Array(repeating: 1, count: 11))
    for _ in 0..<2 { uses.record(keys[10], at: Timestamp(milliseconds: 30)) }
    #expect(try uses.histories(of: [keys[10]]) == [Self.history(30, 3)], "an entry that is used again is not forgotten")
  }

  @Test func nothingIsLostIfManyCountAndWriteAtOnce() async throws {
    let uses = StoreUse(table)
    // Spread over the blocks of the table, as digests are.
    let digests = (UInt64(0)..<500).map { $0 &* 0x9E37_79B9_7F4A_7C15 }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<16 {
        group.addTask {
          for digest in digests {
            uses.countLookUp(task.isMultiple(of: 4) ? digest : nil, at: Timestamp(milliseconds: 1))
          }
          try await uses.write()
        }
      }
      try await group.waitForAll()
    }
    #expect(uses.counts == OperationCounts(hits: 2_000, misses: 6_000))
    #expect(try table.counts() == uses.counts)
    #expect(try table.histories(of: digests).allSatisfy { $0.count == 4 })
  }

  @Test(arguments: [
    (OperationCounts(), OperationCounts(), OperationCounts()),
    (
      OperationCounts(hits: 1, misses: 2, evictions: 3), OperationCounts(hits: 10, misses: 20, evictions: 30),
      OperationCounts(hits: 11, misses: 22, evictions: 33)
    ),
    (
      OperationCounts(hits: .max, misses: .max - 1, evictions: 0), OperationCounts(hits: 1, misses: 1, evictions: .max),
      OperationCounts(hits: .max, misses: .max, evictions: .max)
    ),
  ])
  func sumsStopAtTheLargestNumber(left: OperationCounts, right: OperationCounts, sum: OperationCounts) {
    #expect(left + right == sum)
    #expect(right + left == sum)
  }

  @Test(arguments: [(0, 0), (1, 1), (1_700_000_000_000, 1 << 40), (253_402_300_799_999, .max)] as [(Int64, Int64)])
  func aRecordComesBackOrIsKnownToBeDamaged(last: Int64, count: Int64) throws {
    let record = AccessRecord(digest: AccessRecord.digest(of: try CacheKey("a/1")), history: Self.history(last, count))
    var bytes: [UInt8] = [7]
    record.append(to: &bytes)
    let whole = Array(bytes.dropFirst())
    #expect(whole.count == AccessRecord.size)
    #expect(whole.withUnsafeBytes { AccessRecord($0) } == record)
    for length in 0..<AccessRecord.size { #expect(whole.prefix(length).withUnsafeBytes { AccessRecord($0) } == nil) }
    for bit in 0..<(8 * AccessRecord.size) {
      var damaged = whole
      damaged[bit / 8] ^= 1 << (bit % 8)
      #expect(damaged.withUnsafeBytes { AccessRecord($0) } == nil, "bit \(bit)")
    }
    #expect([UInt8](repeating: 0, count: AccessRecord.size).withUnsafeBytes { AccessRecord($0) } == nil)
  }

  @Test func aHitIsAUseAndAMissIsNone() async throws {
    let test = try await TestStore()
    let (key, other) = (try CacheKey("a/1"), try CacheKey("a/2"))
    test.store.countLookUp(key)
    test.store.countLookUp(nil)
    #expect(try test.store.uses.histories(of: [key, other]) == [Self.history(1_000_000, 1), AccessHistory()])
    #expect(test.store.uses.counts == OperationCounts(hits: 1, misses: 1))
  }

  /// As long as the engine is open, no other process moves the store, and its file with it.
  @Test func theFileIsWrittenBeforeTheEngineIsClosed() async throws {
    let test = try await TestStore()
    let store = EntryStore(engine: test.engine, clock: test.clock, uses: StoreUse(table))
    store.countLookUp(nil)
    let wasThere = Mutex(false)
    let path = folder + "/x.uses"
    test.engine.faults.before = { call, _ throws(CacheError) in
      if case .close = call { wasThere.withLock { $0 = FileManager.default.fileExists(atPath: path) } }
    }
    #expect(try await store.close() == nil)
    #expect(wasThere.withLock { $0 })
  }

  /// The use of a store that cannot be recorded costs nothing but an order.
  @Test func aFileThatCannotBeWrittenIsAWarning() async throws {
    try refuse()
    let test = try await TestStore()
    let store = EntryStore(engine: test.engine, clock: test.clock, uses: StoreUse(table))
    store.countLookUp(nil)
    #expect(try await store.close()?.code == .cannotCreate)
  }

  /// If the clock was set back, the next use replaces a use recorded ahead of it. Processes that add their uses a while
  /// later, or moved entries, change nothing.
  @Test(arguments: [(30 * 86_400, 1), (86_401, 1), (86_400, 0), (60, 0)] as [(Int64, Int)])
  func usesAheadOfAClockThatWasSetBackHeal(ahead: Int64, heals: Int) async throws {
    let (key, now) = (try CacheKey("a/1"), Int64(1_700_000_000_000))
    let before = StoreUse(table)
    before.record(key, at: Timestamp(milliseconds: now + ahead * 1_000))
    try await before.write()
    let after = StoreUse(table)
    try after.restore([key: Self.history(now, 2)])
    #expect(try after.histories(of: [key]) == [Self.history(now + ahead * 1_000, 2)], "no use of now")
    after.record(key, at: Timestamp(milliseconds: now))
    let expected = Self.history(heals == 1 ? now : now + ahead * 1_000, 3)
    #expect(try after.histories(of: [key]) == [expected])
    try await after.write()
    #expect(try StoreUse(table).histories(of: [key]) == [expected])
  }

  @Test func countsStopAtTheLargestNumber() {
    #expect(Self.history(1, .max) + Self.history(2, 1) == Self.history(2, .max))
  }
}
