import FetchVocabulary
import EngineConformance
import EngineAPI
import Synchronization
import TestStorage
import Testing

@testable import CacheCore

/// Stores that count as large: victims are chosen among some of the entries.
struct LargeStoreTests {
  private static let policies = EvictionPolicy.standard.filter { $0 != .none }
  /// A store over several handles, with what it must hold.
  private struct Subject {
    let scratch: Scratch
    let engines: [FaultyEngine]
    var limits: StoreLimits
    var stores: [EntryStore] = []
    /// Payload sizes and times of expiry, by key.
    var model: [CacheKey: (bytes: Int, expiry: Int64)] = [:]
    var evictions = 0

    init(_ limits: StoreLimits, over tested: TestedEngine = .memory, handles: Int = 2) async throws {
      scratch = try Scratch(tested)
      engines = try await scratch.open(handles).map { FaultyEngine(over: $0) }
      self.limits = limits
      reopen()
    }

    var now: Int64 { scratch.clock.now.milliseconds }

    mutating func reopen() {
      evictions += stores.reduce(0) { $0 + $1.uses.counts.evictions }
      stores = engines.map {
        EntryStore(
          engine: $0, clock: scratch.clock, limits: limits, uses: scratch.uses,
          capabilities: [.ordered, .bounded, .expiring], wholeLook: 20)
      }
    }

    func metadata(kept: Int64 = 1_000_000) -> EntryMetadata {
      let end = Timestamp(milliseconds: now + kept)
      return EntryMetadata(storedAt: scratch.clock.now, until: end)
    }

    func put(_ key: CacheKey, bytes: Int, kept: Int64 = 1_000_000, by handle: Int = 0) async throws(CacheError) {
      try await stores[handle].write(key, payload: [UInt8](repeating: 0, count: bytes), metadata: metadata(kept: kept))
    }
  }

  private static func key(_ number: Int) throws(CacheError) -> CacheKey { try CacheKey("url/v1/\(100_000 + number)") }

  /// The most entries that may go to make room for `needed`: the smallest ones first.
  private static func most(_ sizes: [Int], covering needed: EntryCount) -> Int {
    var (sum, count) = (0, 0)
    for size in sizes.sorted() {
      if sum >= needed.payloadBytes, count >= needed.entries { break }
      (sum, count) = (sum + size, count + 1)
    }
    return count
  }

  /// As after an import, which writes beyond the limits.
  @Test func aStoreFarAboveItsLimitIsReducedToTheLimit() async throws {
    var subject = try await Subject(StoreLimits(maxEntries: 500, maxBytes: 1_000_000), handles: 1)
    for number in 0..<250 { try await subject.put(Self.key(number), bytes: 1) }
    subject.limits = StoreLimits(maxEntries: 3, maxBytes: 1_000_000)
    subject.reopen()
    try await subject.put(Self.key(900), bytes: 1)
    #expect(try await subject.engines[0].count().entries == 3)
    try await subject.engines[0].close()
  }

  @Test(arguments: Effort.pairs(policies))
  func limitsHoldAndEvictionIsMinimal(tested: TestedEngine, policy: EvictionPolicy) async throws {
    for round in 0..<Effort.rounds { try await history(tested, policy, seed: Effort.seed + UInt64(round)) }
  }

  private func history(_ tested: TestedEngine, _ policy: EvictionPolicy, seed: UInt64) async throws {
    var generator = SeededGenerator(seed: seed)
    func limits() -> StoreLimits {
      StoreLimits(
        maxEntries: Int.random(in: 70...200, using: &generator),
        maxBytes: Int.random(in: 4_000...12_000, using: &generator), eviction: policy)
    }
    var subject = try await Subject(limits(), over: tested)
    let lease = try CacheKey("leases/v1/a")
    try await subject.engines[0].put(lease, [1], EntryMetadata(storedAt: subject.scratch.clock.now))
    for step in 0..<350 {
      let handle = Int.random(in: 0..<subject.stores.count, using: &generator)
      let key = try Self.key(.random(in: 0..<400, using: &generator))
      switch Int.random(in: 0..<100, using: &generator) {
      case ..<70: try await put(key, &subject, handle, &generator, "seed \(seed), step \(step)")
      case ..<90: if subject.model[key] != nil { subject.stores[handle].countLookUp(key) }
      case ..<95: subject.scratch.clock.advance(by: .milliseconds(Int.random(in: 0...40, using: &generator)))
      case ..<98: try await subject.stores[handle].uses.write()
      default:
        subject.limits = limits()
        subject.reopen()
      }
    }
    let isLeased = try await subject.engines[0].read(lease) { _, _ in true }
    #expect(isLeased == true, "seed \(seed)")
    #expect(subject.evictions + subject.stores.reduce(0) { $0 + $1.uses.counts.evictions } > 0, "seed \(seed)")
    for engine in subject.engines { try await engine.close() }
  }

  private func put(
    _ key: CacheKey, _ subject: inout Subject, _ handle: Int, _ generator: inout SeededGenerator, _ context: String
  ) async throws {
    let bytes = Int.random(in: 0...[20, 90, 90, 900][Int.random(in: 0..<4, using: &generator)], using: &generator)
    let kept = Int64.random(in: 1...2_000, using: &generator)
    let before = subject.stores.reduce(0) { $0 + $1.uses.counts.evictions }
    try await subject.put(key, bytes: bytes, kept: kept, by: handle)
    let others = subject.model.filter { $0.key != key }
    let found = try await allEntries(subject.engines[handle]).filter { $0.key.namespace != "leases" }
    let held = Set(found.map(\.key))
    let gone = others.filter { !held.contains($0.key) }
    subject.model = others.filter { held.contains($0.key) }
    subject.model[key] = (bytes, subject.now + kept)
    #expect(held == Set(subject.model.keys), "\(context)")
    let total = EntryCount(entries: found.count, payloadBytes: found.reduce(0) { $0 + $1.payloadBytes })
    #expect(total.entries <= subject.limits.maxEntries && total.payloadBytes <= subject.limits.maxBytes, "\(context)")
    let sum = others.values.reduce(bytes) { $0 + $1.bytes }
    let needed = EntryCount(
      entries: max(0, others.count + 1 - subject.limits.maxEntries),
      payloadBytes: max(0, sum - subject.limits.maxBytes))
    guard needed.entries > 0 || needed.payloadBytes > 0 else {
      #expect(gone.isEmpty, "\(context): there was room")
      return
    }
    let most = Self.most(
      others.values.map(\.bytes), covering: .init(entries: max(1, needed.entries), payloadBytes: needed.payloadBytes))
    #expect(gone.count <= most + others.count / 64, "\(context): \(needed), \(gone.count)")
    let living = gone.values.count { $0.expiry > subject.now }
    let counted = subject.stores.reduce(0) { $0 + $1.uses.counts.evictions } - before
    #expect(counted == living, "\(context)")
  }

  /// A store of `count` entries at its limit. They were stored a millisecond apart, and not in the order of their keys.
  private static func full(_ count: Int, _ policy: EvictionPolicy = .fifo) async throws -> Subject {
    let subject = try await Subject(StoreLimits(maxEntries: count, maxBytes: 1 << 30, eviction: policy), handles: 1)
    // In one batch, because some engines write complete files for each entry.
    var batch = WriteBatch()
    for number in 0..<count {
      subject.scratch.clock.advance(by: .milliseconds(1))
      batch.put(try key(number * 37 % count), payload: [UInt8](repeating: 0, count: 10), metadata: subject.metadata())
    }
    try await subject.engines[0].apply(batch)
    return subject
  }

  @Test func aWriteLooksAtAFewEntriesHoweverManyThereAre() async throws {
    let subject = try await Self.full(640)
    let engine = subject.engines[0]
    let (scans, batches) = (engine.scans, engine.batches.count)
    for number in 0..<110 { try await subject.put(Self.key(1_000 + number), bytes: 10) }
    // Eleven entries are evicted at once. A choice reads six pages, and a seventh if a range ends; the first choice
    // also looks up the size of the entry that is replaced.
    #expect(engine.scans - scans <= 10 * 9 + 1)
    #expect(engine.batches.count - batches <= 110 + 10)
    #expect(subject.stores[0].uses.counts.evictions >= 110)
    #expect(subject.stores[0].uses.counts.evictions <= 121)
    #expect(engine.batches.suffix(120).allSatisfy { $0.removals <= 11 })
  }

  @Test func evictedEntriesAreOldAndExpiredOnesComeFirst() async throws {
    var subject = try await Self.full(640)
    for number in 0..<320 { try await subject.put(Self.key(2_000 + number), bytes: 10) }
    let left = Set(try await allEntries(subject.engines[0]).map(\.key))
    // The order in which they were stored.
    let gone = try (0..<640).filter { !left.contains(try Self.key($0 * 37 % 640)) }
    #expect(gone.count { $0 < 320 } > gone.count * 9 / 10, "\(gone)")
    #expect(gone.count { $0 >= 480 } <= gone.count / 50, "\(gone)")
    // Half of the remaining entries expire, all over the store.
    subject.reopen()
    for (index, key) in left.sorted().enumerated() where index.isMultiple(of: 2) {
      try await subject.put(key, bytes: 10, kept: 5)
    }
    subject.scratch.clock.advance(by: .milliseconds(5))
    for number in 0..<100 { try await subject.put(Self.key(3_000 + number), bytes: 10) }
    #expect(subject.stores[0].uses.counts.evictions == 0)
  }

  @Test func usedEntriesStay() async throws {
    let subject = try await Self.full(640, .lru)
    subject.scratch.clock.advance(by: .milliseconds(1))
    let used = try (0..<100).map { try Self.key($0 * 6) }
    for number in 0..<600 {
      if number.isMultiple(of: 50) { for key in used { subject.stores[0].countLookUp(key) } }
      subject.scratch.clock.advance(by: .milliseconds(1))
      try await subject.put(Self.key(1_000 + number), bytes: 10)
    }
    let left = Set(try await allEntries(subject.engines[0]).map(\.key))
    #expect(left.isSuperset(of: used))
  }

  /// While the victims are removed, another writer stores one of them again, or takes the room.
  @Test func theChoiceIsRepeatedIfAnotherWriterIsFaster() async throws {
    let subject = try await Self.full(320)
    let engine = subject.engines[0]
    // From now on the number of entries is known.
    for number in 0..<2 { try await subject.put(Self.key(1_000 + number), bytes: 10) }
    let changed = Mutex<CacheKey?>(nil)
    engine.beforeBatches { _ throws(CacheError) in
      guard changed.withLock({ $0 }) == nil, let batch = engine.batches.last, batch.removals > 0 else { return }
      var other = WriteBatch()
      for case .remove(let key) in batch.operations.suffix(1) {
        changed.withLock { $0 = key }
        let metadata = EntryMetadata(storedAt: subject.scratch.clock.now, checksum: 99)
        other.put(key, payload: [9], metadata: metadata)
      }
      try await engine.base.apply(other)
    }
    for number in 0..<20 { try await subject.put(Self.key(2_000 + number), bytes: 10) }
    let key = try #require(changed.withLock { $0 })
    #expect(try await engine.read(key) { bytes, _ in bytes.count } == 1, "an entry that was stored again stays")
    #expect(try await engine.count().total().entries <= 320)
  }

  /// Evictions are part of the batch that writes: if it fails, nothing has changed. If many entries are evicted,
  /// several batches remove them, and after a failure the next write continues after the last batch made.
  @Test func anEvictionThatBreaksOffLosesNothingElse() async throws {
    var subject = try await Self.full(320)
    let engine = subject.engines[0]
    for number in 0..<2 { try await subject.put(Self.key(1_000 + number), bytes: 10) }
    for number in 0..<12 {
      let before = try await allEntries(engine)
      engine.beforeBatches { _ throws(CacheError) in
        if engine.batches.last?.removals ?? 0 > 0 { throw CacheError(.ioFailed, "gone") }
      }
      let error = await errorCode { try await subject.put(Self.key(2_000 + number), bytes: 10) }
      let after = try await allEntries(engine)
      #expect(error == nil ? after.count == before.count + 1 : error == .ioFailed && after == before)
      engine.beforeBatches { _ throws(CacheError) in }
      if error != nil { try await subject.put(Self.key(2_000 + number), bytes: 10) }
    }
    // 2,500 entries, and the ones before. All but 320 must be evicted: three batches, of which the second fails.
    var batch = WriteBatch()
    for number in 0..<2_500 {
      batch.put(
        try Self.key(10_000 + number), payload: [1],
        metadata: EntryMetadata(storedAt: subject.scratch.clock.now, checksum: UInt64(number)))
    }
    try await engine.apply(batch)
    let full = try await allEntries(engine)
    let start = engine.batches.count
    engine.beforeBatches { _ throws(CacheError) in
      if engine.batches.dropFirst(start).count(where: { $0.removals > 0 }) == 2 { throw CacheError(.ioFailed, "gone") }
    }
    let error = await errorCode { try await subject.put(Self.key(3_000), bytes: 10) }
    #expect(error == .ioFailed)
    let left = try await allEntries(engine)
    #expect(left.count < full.count && left.count >= full.count - VictimSearch.maximumVictims)
    #expect(Set(left).isSubset(of: full))
    engine.beforeBatches { _ throws(CacheError) in }
    subject.reopen()
    try await subject.put(Self.key(3_000), bytes: 10)
    let total = try await engine.count().total()
    #expect(total.entries <= 320 && total.entries > 320 - 64)
    #expect(try await engine.read(Self.key(3_000)) { _, _ in true } == true)
  }

  /// As after an import: a command that evicts most of a store can be interrupted.
  @Test func evictionsEndWithTheirTask() async throws {
    var subject = try await Self.full(3_000)
    let engine = subject.engines[0]
    subject.limits = StoreLimits(maxEntries: 100, maxBytes: 1 << 30, eviction: .fifo)
    subject.reopen()
    engine.beforeBatches { _ throws(CacheError) in
      if engine.batches.last?.removals ?? 0 > 0 { withUnsafeCurrentTask { $0?.cancel() } }
    }
    let store = subject.stores[0]
    let metadata = subject.metadata()
    let key = try Self.key(5_000)
    let put = Task { await errorCode { try await store.write(key, payload: [1], metadata: metadata) } }
    #expect(await put.value == .cancelled)
    #expect(try await engine.count().total().entries == 3_000 - VictimSearch.maximumVictims)
    engine.beforeBatches { _ throws(CacheError) in }
    try await store.write(key, payload: [1], metadata: metadata)
    #expect(try await engine.count().total().entries <= 100)
  }

  /// A count from before other processes removed most of the store does not decide how many entries are evicted.
  @Test func aCountIsNotTrustedAfterTheStoreShrank() async throws {
    var subject = try await Self.full(640)
    let engine = subject.engines[0]
    subject.limits = StoreLimits(maxEntries: 640, maxBytes: 7_000, eviction: .fifo)
    subject.reopen()
    for number in 0..<2 { try await subject.put(Self.key(1_000 + number), bytes: 10) }
    var batch = WriteBatch()
    for entry in try await allEntries(engine).dropFirst(24) { batch.remove(entry.key) }
    try await engine.base.apply(batch)
    subject.scratch.clock.advance(by: .milliseconds(1))
    try await subject.put(Self.key(2_000), bytes: 6_700)
    let before = subject.stores[0].uses.counts.evictions
    // 240 bytes and 6,700 are there.
    try await subject.put(Self.key(2_001), bytes: 200)
    #expect(subject.stores[0].uses.counts.evictions - before == 14)
    #expect(try await engine.read(Self.key(2_000)) { _, _ in true } == true)
  }

  /// The engine's bound on the next expiry stays too early after an entry was removed. So a refused write of the policy
  /// `none` reads entries, but never more than a choice needs.
  @Test func aRefusedWriteLooksAtABoundedNumberOfEntries() async throws {
    // A choice needs a fifth of these.
    let count = 5 * VictimSearch.entriesPerVictim * VictimSearch.maximumVictims
    let subject = try await Self.full(count, .none)
    let engine = subject.engines[0]
    func put(_ number: Int, kept: Int64 = 1_000_000) async -> CacheError.Code? {
      await errorCode { try await subject.put(Self.key(number), bytes: 10, kept: kept) }
    }
    let scans = engine.scans
    #expect(await put(100_000) == .overBounds)
    #expect(engine.scans == scans, "nothing can have expired")
    #expect(await put(0, kept: 5) == nil, "a replacement needs no room")
    subject.scratch.clock.advance(by: .milliseconds(5))
    var refused = 0
    while refused < 5, await put(100_000) == .overBounds { refused += 1 }
    #expect(refused <= 1, "the next write reads the entries that the one before did not reach")
    for number in 0..<3 {
      let before = engine.scans
      #expect(await put(100_001 + number) == .overBounds)
      let seen = engine.requests.dropFirst(before).reduce(0) { $0 + $1.limit }
      let most = VictimSearch.entriesPerVictim * VictimSearch.maximumVictims
      #expect(seen <= most + EvictionSweep.maximumStretches * EvictionSweep.pageSize, "\(seen) of \(count) entries")
    }
    #expect(subject.stores[0].uses.counts.evictions == 0)
  }

  @Test func roomThatWasTooSmallIsEnoughForASmallerEntry() async throws {
    let limits = StoreLimits(maxEntries: 1_000, maxBytes: 1_000, eviction: .none)
    let subject = try await Subject(limits, handles: 1)
    for number in 0..<100 { try await subject.put(Self.key(number), bytes: 10, kept: number == 50 ? 5 : 1_000_000) }
    subject.scratch.clock.advance(by: .milliseconds(5))
    #expect(await errorCode { try await subject.put(Self.key(200), bytes: 11) } == .overBounds)
    try await subject.put(Self.key(201), bytes: 10)
    #expect(try await subject.engines[0].count().total().payloadBytes == 1_000)
  }

  @Test func entriesThatExpireDuringAPassAreFoundByTheNext() async throws {
    let limits = StoreLimits(maxEntries: 100, maxBytes: 10_000, eviction: .none)
    let subject = try await Subject(limits, handles: 1)
    for number in 0..<100 { try await subject.put(Self.key(number), bytes: 10, kept: number == 50 ? 10 : 1_000_000) }
    // The engine keeps the bound of the entry that is replaced.
    try await subject.put(Self.key(0), bytes: 10, kept: 5)
    try await subject.put(Self.key(0), bytes: 10)
    subject.scratch.clock.advance(by: .milliseconds(5))
    let clock = subject.scratch.clock
    subject.engines[0].faults.before = { call, _ throws(CacheError) in
      if case .scan = call { clock.advance(by: .milliseconds(5)) }
    }
    #expect(await errorCode { try await subject.put(Self.key(200), bytes: 10) } == .overBounds)
    try await subject.put(Self.key(201), bytes: 10)
  }

  /// One pass evicts 1,000 entries at most: they go, and the next pass looks behind them.
  @Test func entriesThatOnePassDoesNotEvictAreEvictedByTheNext() async throws {
    let count = 6_000
    let subject = try await Subject(StoreLimits(maxEntries: 10_000, maxBytes: 10 * count, eviction: .fifo), handles: 1)
    let engine = subject.engines[0]
    let keys = try (0..<count).map { try Self.key($0) }
    var batch = WriteBatch()
    for number in 0..<count {
      let storedAt = subject.scratch.clock.now.advanced(by: .milliseconds(number * 37 % count - count))
      batch.put(keys[number], payload: [UInt8](repeating: 0, count: 10), metadata: EntryMetadata(storedAt: storedAt))
    }
    try await engine.base.apply(batch)
    let needed = 1_500
    try await subject.put(keys[count / 2], bytes: 10 * needed + 10)
    #expect(engine.batches.map(\.removals).max() ?? 0 <= VictimSearch.maximumVictims)
    let gone = subject.stores[0].uses.counts.evictions
    #expect((needed...needed + BoundedWriter.victimsAtOnce).contains(gone), "\(gone)")
    let pages = engine.requests.filter(\.prefix.isEmpty)
    #expect(pages.count - Set(pages).count <= 2, "no page is read twice, except at the end of a range")
    #expect(pages.count <= count / EvictionSweep.pageSize)
    // Only the oldest third of the entries that it read, and none of the newer half.
    let left = Set(try await allEntries(engine).map(\.key))
    let lost = (0..<count).filter { !left.contains(keys[$0]) }
    #expect(lost.count { $0 * 37 % count > count / 2 } <= lost.count / 50)
  }

  /// A process that starts for each write continues at the position of the last one.
  @Test func thePlaceIsKeptFromOneProcessToTheNext() async throws {
    let subject = try await Self.full(640)
    for number in 0..<320 {
      let store = EntryStore(
        engine: subject.engines[0], clock: subject.scratch.clock, limits: subject.limits, uses: subject.scratch.uses,
        capabilities: [.ordered, .bounded, .expiring], wholeLook: 20)
      let metadata = EntryMetadata(storedAt: subject.scratch.clock.now)
      // Always behind the last key: a place that starts there each time would see the first entries alone.
      try await store.write(Self.key(10_000 + number), payload: [1], metadata: metadata)
      try await store.uses.write()
    }
    let left = Set(try await allEntries(subject.engines[0]).map(\.key))
    let gone = try (0..<640).filter { !left.contains(try Self.key($0 * 37 % 640)) }
    #expect(gone.count { $0 < 320 } > gone.count * 9 / 10, "\(gone)")
  }
}
