import FetchVocabulary
import EngineConformance
import EngineAPI
import TestStorage
import Testing

@testable import CacheCore

/// The effects of a write on a store with limits, one by one.
struct WritingTests {
  /// A store in which every write goes through `engine`.
  private struct Subject {
    let scratch: Scratch
    let engine: FaultyEngine
    var store: EntryStore
    var start: Timestamp { Timestamp(milliseconds: 1_700_000_000_000) }

    init(_ limits: StoreLimits?, sweeps: Bool = false) async throws {
      scratch = try Scratch(.memory)
      engine = FaultyEngine(over: try await scratch.open()[0])
      store = Self.store(engine, scratch, limits, sweeps: sweeps)
    }

    mutating func limit(_ limits: StoreLimits, sweeps: Bool = false) {
      store = Self.store(engine, scratch, limits, sweeps: sweeps)
    }

    private static func store(
      _ engine: FaultyEngine, _ scratch: Scratch, _ limits: StoreLimits?, sweeps: Bool
    ) -> EntryStore {
      EntryStore(
        engine: engine, clock: scratch.clock, limits: limits,
        capabilities: sweeps ? [.ordered, .bounded] : [.ordered, .bounded, .expiring])
    }

    func put(
      _ name: Int, bytes: Int = 1, age: Int64 = 0, kept: Int64 = 1_000_000, expecting: WriteBatch.Expectation? = nil
    ) async throws(CacheError) {
      let storedAt = scratch.clock.now.advanced(by: .milliseconds(-age))
      let end = scratch.clock.now.advanced(by: .milliseconds(kept))
      let metadata = EntryMetadata(storedAt: storedAt, until: end)
      try await store.write(
        key(name), payload: [UInt8](repeating: 0, count: bytes), metadata: metadata, expecting: expecting)
    }

    func key(_ name: Int) throws(CacheError) -> CacheKey {
      let text = String(name)
      let padding = String(repeating: "0", count: max(0, 6 - text.utf8.count))
      return try CacheKey("url/v1/\(padding)\(text)")
    }

    func names() async throws -> [Int] {
      try await allEntries(engine).compactMap { $0.key.text.split(separator: "/").last.flatMap { Int($0) } }
    }
  }

  private static func limits(_ entries: Int, _ bytes: Int, _ policy: EvictionPolicy = .fifo) -> StoreLimits {
    StoreLimits(maxEntries: entries, maxBytes: bytes, eviction: policy)
  }

  @Test func whileThereIsRoomAWriteIsOneBatchAndNothingElse() async throws {
    let subject = try await Subject(Self.limits(10, 100))
    for name in 0..<10 { try await subject.put(name) }
    #expect(subject.engine.batches.count == 10)
    #expect(subject.engine.scans == 0)
    #expect(subject.engine.batches.allSatisfy { $0.bounds == Self.limits(10, 100).bounds })
    #expect(subject.store.uses.counts.evictions == 0)
  }

  @Test func aStoreWithoutLimitsTakesAnything() async throws {
    let subject = try await Subject(nil)
    for name in 0..<40 { try await subject.put(name, bytes: 1_000) }
    #expect(try await subject.names().count == 40)
    #expect(subject.engine.scans == 1, "only the scan of this test was made")
    #expect(subject.engine.batches.allSatisfy { $0.bounds == nil })
  }

  @Test(arguments: EvictionPolicy.standard) func anEntryLargerThanAllLimitsIsRefusedAndNothingIsEvicted(
    policy: EvictionPolicy
  )
    async throws
  {
    let subject = try await Subject(Self.limits(3, 100, policy))
    for name in 0..<3 { try await subject.put(name, bytes: 30, kept: -1) }
    let error = await #expect(throws: CacheError.self) { try await subject.put(9, bytes: 101) }
    #expect(error?.code.rawValue == CacheError.Code.tooLarge.rawValue)
    for word in ["url/v1/000009", "101 bytes", "100", "maxBytes"] {
      #expect(error?.message.contains(word) == true, "\(word)")
    }
    #expect(try await subject.names() == [0, 1, 2])
    #expect(subject.engine.batches.count == 3)
    try await subject.put(9, bytes: 100)
    #expect(try await subject.names() == [9])
  }

  @Test func withPolicyNoneOnlyExpiredEntriesAreEvicted() async throws {
    let subject = try await Subject(Self.limits(3, 1_000, .none))
    for (name, kept) in [(0, 1_000_000), (1, -1), (2, 1_000_000)] as [(Int, Int64)] {
      try await subject.put(name, kept: kept)
    }
    try await subject.put(3)
    #expect(try await subject.names() == [0, 2, 3])
    let error = await #expect(throws: CacheError.self) { try await subject.put(4) }
    #expect(error?.code.rawValue == CacheError.Code.overBounds.rawValue)
    #expect(error?.message.contains("eviction is none") == true)
    #expect(try await subject.names() == [0, 2, 3])
    #expect(subject.store.uses.counts.evictions == 0)
    // A replacement needs no room.
    try await subject.put(2, bytes: 9)
    #expect(try await subject.names() == [0, 2, 3])
  }

  @Test func oneBatchRemovesAndWrites() async throws {
    let subject = try await Subject(Self.limits(5, 1_000))
    for name in 0..<5 { try await subject.put(name, age: Int64(100 - name)) }
    try await subject.put(5, bytes: 998)
    #expect(try await subject.names() == [3, 4, 5])
    let last = try #require(subject.engine.batches.last)
    #expect(last.removals == 3)
    #expect(last.bounds == Self.limits(5, 1_000).bounds)
    #expect(subject.store.uses.counts.evictions == 3)
  }

  @Test func aConflictOfTheCallersOwnIsReported() async throws {
    let subject = try await Subject(Self.limits(2, 1_000))
    for name in 0..<2 { try await subject.put(name) }
    for (name, expectation) in [(1, .absent), (7, .checksum(1))] as [(Int, WriteBatch.Expectation)] {
      let error = await #expect(throws: CacheError.self) { try await subject.put(name, expecting: expectation) }
      #expect(error?.code.rawValue == CacheError.Code.conflict.rawValue)
    }
    #expect(try await subject.names() == [0, 1])
    try await subject.put(7, expecting: .absent)
    #expect(try await subject.names() == [1, 7])
  }

  @Test func theChoiceIsRepeatedIfAnotherWriterIsFaster() async throws {
    let subject = try await Subject(Self.limits(3, 1_000))
    for name in 0..<3 { try await subject.put(name, age: Int64(100 - name)) }
    let others = EntryStore(engine: subject.engine, clock: subject.scratch.clock)
    let (victim, now) = (try subject.key(0), subject.scratch.clock.now)
    // Just before the batch that removes the victim, another writer stores the victim again.
    let tried = subject.engine.batches.count
    subject.engine.beforeBatches { _ throws(CacheError) in
      guard subject.engine.batches.count == tried + 2 else { return }
      let metadata = EntryMetadata(storedAt: now.advanced(by: .seconds(1)))
      do throws(CacheError) { try await others.write(victim, payload: [1, 2], metadata: metadata) } catch {
        throw CacheError(.failed, error.message)
      }
    }
    try await subject.put(3)
    #expect(try await subject.names() == [0, 2, 3])
    #expect(subject.store.uses.counts.evictions == 1)
  }

  @Test func aWriterThatIsAlwaysTooLateGivesUp() async throws {
    let subject = try await Subject(Self.limits(3, 1_000))
    for name in 0..<3 { try await subject.put(name) }
    subject.engine.beforeBatches { _ throws(CacheError) in throw CacheError(.overBounds, "another writer was faster") }
    let error = await #expect(throws: CacheError.self) { try await subject.put(3) }
    #expect(error?.code.rawValue == CacheError.Code.busy.rawValue)
    #expect(subject.engine.batches.count <= 3 + 1 + 2 * BoundedWriter.maximumAttempts)
    #expect(try await subject.names() == [0, 1, 2])
  }

  @Test func muchIsRemovedInBatchesOfBoundedSize() async throws {
    var subject = try await Subject(nil)
    let (clock, engine) = (subject.scratch.clock, subject.engine)
    var batch = WriteBatch()
    for name in 0..<3_300 {
      let metadata = EntryMetadata(storedAt: clock.now.advanced(by: .milliseconds(-name)), checksum: UInt64(name))
      batch.put(try subject.key(name), payload: [1], metadata: metadata)
    }
    try await engine.apply(batch)
    subject.limit(Self.limits(200, 1_000))
    try await subject.put(9_999)
    // 3,101 must be evicted, and a sixty-fourth of the remaining ones with them.
    let spare = 200 / 64
    let names = try await subject.names()
    #expect(names.last == 9_999)
    #expect(names.count == 200 - spare)
    #expect(names.dropLast().elementsEqual(0..<(199 - spare)), "the oldest entries were evicted")
    #expect(engine.batches.dropFirst().allSatisfy { $0.removals <= VictimSearch.maximumVictims })
    #expect(subject.store.uses.counts.evictions == 3_300 + 1 - names.count)
  }

  @Test func choosingIsRareInALargeStore() async throws {
    let subject = try await Subject(Self.limits(192, 1_000_000))
    for name in 0..<300 { try await subject.put(name, age: Int64(2_000 - name)) }
    let names = try await subject.names()
    #expect(names == Array((300 - names.count)..<300))
    #expect(names.count <= 192 && names.count >= 192 - 3)
    // Each choice makes room for four entries. It costs a scan for the size of the replaced entry, and one for all
    // entries.
    #expect(subject.engine.scans <= 2 * (108 / 4 + 1) + 2)
  }

  @Test func expiredEntriesAreEvictedBitByBit() async throws {
    var subject = try await Subject(nil)
    for name in 0..<300 { try await subject.put(name, kept: name % 3 == 0 ? 10 : 1_000_000) }
    subject.scratch.clock.advance(by: .milliseconds(10))
    subject.limit(Self.limits(10_000, 1_000_000), sweeps: true)
    let (scans, batches) = (subject.engine.scans, subject.engine.batches.count)
    try await subject.put(100)
    #expect(subject.engine.scans == scans + 1, "the first write looks, so that a process with one write does too")
    #expect(subject.engine.batches.count == batches + 1)
    #expect(Set([0, 3, 6, 9, 12, 15]).isDisjoint(with: try await subject.names()), "of one page")
    #expect(try await subject.names().contains(18))
    for _ in 0..<200 { try await subject.put(100) }
    #expect(try await subject.names() == (0..<300).filter { $0 % 3 != 0 })
    #expect(subject.engine.batches.count == batches + 201)
    #expect(subject.store.uses.counts.evictions == 0)
  }

  @Test func whileNothingCanHaveExpiredNoWriteLooks() async throws {
    let subject = try await Subject(Self.limits(10_000, 1_000_000), sweeps: true)
    for name in 0..<250 { try await subject.put(name) }
    #expect(subject.engine.scans == 0)
  }

  /// The engine's bound stays too early after an expired entry was removed.
  @Test func ifLooksFindNothingWritesSeldomLook() async throws {
    var subject = try await Subject(nil)
    try await subject.put(0, kept: 10)
    for name in 1..<20 { try await subject.put(name) }
    subject.scratch.clock.advance(by: .milliseconds(10))
    try await subject.put(0)
    subject.limit(Self.limits(10_000, 1_000_000), sweeps: true)
    let scans = subject.engine.scans
    for name in 0..<250 { try await subject.put(name) }
    #expect(subject.engine.scans - scans <= 5, "at the writes 0, 16, 48, 112 and 240")
  }

  /// A large LMDB store refuses to remove an entry next to a damaged page.
  @Test func anExpiredEntryThatCannotBeRemovedPreventsNoWrite() async throws {
    var subject = try await Subject(nil)
    for name in 0..<10 { try await subject.put(name, kept: 10) }
    subject.scratch.clock.advance(by: .milliseconds(10))
    subject.limit(Self.limits(10_000, 1_000_000), sweeps: true)
    subject.engine.faults.before = { call, _ throws(CacheError) in
      guard case .apply(let batch) = call, batch.finalSizes.values.contains(nil) else { return }
      throw CacheError(.damaged, "beside it is a damaged page")
    }
    try await subject.put(3)
    #expect(try await subject.store.read(subject.key(3)) { bytes, _ in bytes.count }?.value == 1)
    #expect(try await subject.names().count == 10)
  }
}
