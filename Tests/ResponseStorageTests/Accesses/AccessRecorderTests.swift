import FetchVocabulary
import StorageConformance
import StorageSPI
import Synchronization
import Testing

@testable import CacheCore

struct AccessRecorderTests {
  private static func history(_ last: Int64, _ count: Int64) -> AccessHistory {
    AccessHistory(lastUsedAt: Timestamp(milliseconds: last), count: count)
  }

  /// A log that counts its calls, and may fail.
  private final class CountingLog: AccessLog {
    let base = MemoryAccessLog()
    let calls = Mutex(0)
    private let failure: Mutex<CacheError?>

    init(failure: CacheError? = nil) { self.failure = Mutex(failure) }

    func recover() { failure.withLock { $0 = nil } }

    func add(_ records: [AccessRecord]) throws(CacheError) {
      calls.withLock { $0 += 1 }
      if let failure = failure.withLock({ $0 }) { throw failure }
      try base.add(records)
    }

    func histories(of digests: [UInt64]) throws(CacheError) -> [AccessHistory] { try base.histories(of: digests) }
  }

  @Test func usesAreGatheredAndAddedInBulk() async throws {
    let log = CountingLog()
    let accesses = AccessRecorder(log: log)
    let keys = try (0..<3).map { try CacheKey("a/\($0)") }
    for (key, time) in [(0, 5), (1, 6), (0, 9), (0, 7)] as [(Int, Int64)] {
      accesses.record(keys[key], at: Timestamp(milliseconds: time))
    }
    let expected = [Self.history(9, 3), Self.history(6, 1), AccessHistory()]
    #expect(try accesses.histories(of: keys) == expected)
    #expect(log.calls.withLock { $0 } == 0, "reading never writes")
    try await accesses.flush()
    try await accesses.flush()
    #expect(log.calls.withLock { $0 } == 1)
    #expect(try accesses.histories(of: keys) == expected)
    accesses.record(keys[2], at: Timestamp(milliseconds: 1))
    #expect(
      try AccessRecorder(log: log).histories(of: keys) == expected, "another handle knows what was added to the log")
    #expect(try accesses.histories(of: keys) == [expected[0], expected[1], Self.history(1, 1)])
  }

  @Test func whatTheLogRefusesIsAddedLater() async throws {
    let log = CountingLog(failure: CacheError(.noSpace, "the disk is full"))
    let (accesses, key) = (AccessRecorder(log: log), try CacheKey("a/1"))
    for time in 1...100 { accesses.record(key, at: Timestamp(milliseconds: Int64(time))) }
    for _ in 0..<2 { await #expect(throws: CacheError.self) { try await accesses.flush() } }
    #expect(try accesses.histories(of: [key]) == [Self.history(100, 100)])
    log.recover()
    try await accesses.flush()
    #expect(try AccessRecorder(log: log).histories(of: [key]) == [Self.history(100, 100)])
  }

  @Test func restoringTwiceIsRestoringOnce() async throws {
    let accesses = AccessRecorder()
    let keys = try (0..<3).map { try CacheKey("a/\($0)") }
    accesses.record(keys[0], at: Timestamp(milliseconds: 5))
    accesses.record(keys[1], at: Timestamp(milliseconds: 50))
    let moved = [keys[0]: Self.history(9, 3), keys[1]: Self.history(9, 4), keys[2]: Self.history(7, 1)]
    for _ in 0..<3 {
      try accesses.restore(moved)
      #expect(try accesses.histories(of: keys) == [Self.history(9, 3), Self.history(50, 4), Self.history(7, 1)])
      try await accesses.flush()
    }
    try accesses.restore([keys[0]: Self.history(1, 1)])
    #expect(try accesses.histories(of: [keys[0]]) == [Self.history(9, 3)], "what is known is not made less")
  }

  @Test func manyAreAddedInTheBackground() async throws {
    let log = CountingLog()
    let accesses = AccessRecorder(log: log)
    let count = AccessRecorder.maximumPending + 100
    for number in 0..<count { accesses.record(try CacheKey("a/\(number)"), at: Timestamp(milliseconds: 7)) }
    let all = try (0..<count).map { try CacheKey("a/\($0)") }
    #expect(try accesses.histories(of: all).allSatisfy { $0.count >= 1 }, "nothing is forgotten on its way")
    try await accesses.flush()
    #expect(log.calls.withLock { $0 } == 2)
    #expect(try accesses.histories(of: all).allSatisfy { $0 == Self.history(7, 1) })
  }

  @Test func aFailureInTheBackgroundIsReportedInTheEnd() async throws {
    let accesses = AccessRecorder(log: CountingLog(failure: CacheError(.ioFailed, "full")))
    for number in 0..<AccessRecorder.maximumPending {
      accesses.record(try CacheKey("a/\(number)"), at: Timestamp(milliseconds: 7))
    }
    #expect(await errorCode { () async throws(CacheError) in try await accesses.flush() }?.rawValue == "ioFailed")
    #expect(await errorCode { () async throws(CacheError) in try await accesses.flush() } == nil)
  }

  @Test func theMemoryLogForgetsWhatWasUsedTheLongestAgo() throws {
    let log = MemoryAccessLog(capacity: 10)
    for number in UInt64(0)..<21 {
      try log.add([AccessRecord(digest: number, history: Self.history(Int64(number), 1))])
    }
    let known = try log.histories(of: Array(0..<21))
    #expect(known.map(\.count) == Array(repeating: 0, count: 10) + Array(repeating: 1, count: 11))
    try log.add([AccessRecord(digest: 10, history: Self.history(30, 2))])
    #expect(try log.histories(of: [10]) == [Self.history(30, 3)], "what is used again is not forgotten")
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
    #expect(try test.store.accesses.histories(of: [key, other]) == [Self.history(1_000_000, 1), AccessHistory()])
    #expect(test.store.operations.current == OperationCounts(hits: 1, misses: 1))
  }

  /// What was recorded ahead of a clock that was set back gives way to the next use. Processes that add their uses a
  /// while later, or moved entries, change nothing.
  @Test(arguments: [(30 * 86_400, 1), (86_401, 1), (86_400, 0), (60, 0)] as [(Int64, Int)])
  func usesAheadOfAClockThatWasSetBackHeal(ahead: Int64, heals: Int) async throws {
    let log = MemoryAccessLog()
    let (key, now) = (try CacheKey("a/1"), Int64(1_700_000_000_000))
    let before = AccessRecorder(log: log)
    before.record(key, at: Timestamp(milliseconds: now + ahead * 1_000))
    try await before.flush()
    let after = AccessRecorder(log: log)
    try after.restore([key: Self.history(now, 2)])
    #expect(try after.histories(of: [key]) == [Self.history(now + ahead * 1_000, 2)], "no use of now")
    after.record(key, at: Timestamp(milliseconds: now))
    let expected = Self.history(heals == 1 ? now : now + ahead * 1_000, 3)
    #expect(try after.histories(of: [key]) == [expected])
    try await after.flush()
    #expect(try AccessRecorder(log: log).histories(of: [key]) == [expected])
  }

  @Test func countsStopAtTheLargestNumber() {
    #expect(Self.history(1, .max) + Self.history(2, 1) == Self.history(2, .max))
  }
}
