import EngineAPI
import EngineConformance
import Foundation
import SeededNumbers
import TestStorage
import Testing
@testable import CacheCore

/// How well a cache does whose victims are chosen among some entries, compared with exact LRU. No engine takes part.
struct HitRatioTests {
  /// A cache of keys in order, with the known facts about each.
  private struct SampledCache {
    let policy: EvictionPolicy
    let capacity: Int
    private var keys: [CacheKey] = []
    private var stored: [CacheKey: Int64] = [:]
    private var histories: [CacheKey: AccessHistory] = [:]
    private var sweep: EvictionSweep?
    private var now: Int64 = 0

    init(_ policy: EvictionPolicy, capacity: Int) { (self.policy, self.capacity) = (policy, capacity) }

    /// Looks up `key`, stores it if it is not there, and says whether it was.
    mutating func isHit(_ key: CacheKey) -> Bool {
      now += 1
      if stored[key] != nil {
        histories[key, default: AccessHistory()].count += 1
        histories[key]?.lastUsedAt = Timestamp(milliseconds: now)
        return true
      }
      if keys.count == capacity { evict(for: key) }
      keys.insert(key, at: keys.partitioningIndex(after: key))
      stored[key] = now
      return false
    }

    private mutating func evict(for key: CacheKey) {
      var sweep = sweep ?? EvictionSweep(at: key)
      var search = VictimSearch(
        policy, needed: .init(entries: 1, payloadBytes: 0), spareCount: min(32, capacity / 64),
        now: Timestamp(milliseconds: now))
      var found: [ScannedEntry] = []
      while found.count < search.goal(atLeast: 32) {
        let stretch = sweep.nextStretch()
        let position = sweep.request(for: stretch).position.map { CacheKey(trusting: $0.utf8.span) }
        let start = position.map { keys.partitioningIndex(after: $0) } ?? 0
        let page = keys[start...].prefix(EvictionSweep.pageSize)
        let next = page.endIndex < keys.endIndex ? page.last?.text : nil
        let entries = page.map(summary)
        found += entries.prefix(sweep.note(ScanPage(entries, next: next), in: stretch))
      }
      search.offer(found) { $0.map { histories[$0] ?? AccessHistory() } }
      for victim in search.choose().victims {
        keys.remove(at: keys.partitioningIndex(after: victim.key) - 1)
        stored[victim.key] = nil
      }
      self.sweep = sweep
    }

    private func summary(_ key: CacheKey) -> ScannedEntry {
      let metadata = EntryMetadata(storedAt: Timestamp(milliseconds: stored[key] ?? 0))
      return ScannedEntry(key: key, metadata: metadata, payloadBytes: 0)
    }
  }

  /// The hits of exact LRU.
  private static func leastRecentlyUsed(_ trace: [Int], capacity: Int) -> Int {
    var (lastUse, queue, first, hits) = ([Int: Int](), [Int](), 0, 0)
    for (time, key) in trace.enumerated() {
      if lastUse[key] != nil {
        hits += 1
      } else if lastUse.count == capacity {
        while lastUse[queue[first]] != first { first += 1 }
        lastUse[queue[first]] = nil
      }
      lastUse[key] = time
      queue.append(key)
    }
    return hits
  }

  private static func hits(_ trace: [Int], _ policy: EvictionPolicy, capacity: Int) throws -> Int {
    var cache = SampledCache(policy, capacity: capacity)
    var keys: [Int: CacheKey] = [:]
    return try trace.count { number in
      let key = try keys[number] ?? CacheKey("k/\(1_000_000 + number)")
      keys[number] = key
      return cache.isHit(key)
    }
  }

  /// Look-ups of keys whose popularity falls with their number, in their order.
  private static func zipf(_ exponent: Double, count: Int, keys: Int, _ generator: inout SeededGenerator) -> [Int] {
    var (sums, sum) = ([Int](), 0)
    for number in 1...keys {
      sum += Int(1e9 / pow(Double(number), exponent))
      sums.append(sum)
    }
    return (0..<count).map { _ in
      let wanted = Int.random(in: 0..<sum, using: &generator)
      var (low, high) = (0, keys - 1)
      while low < high {
        let middle = (low + high) / 2
        if sums[middle] > wanted { high = middle } else { low = middle + 1 }
      }
      return low
    }
  }

  private static func trace(_ name: String, _ generator: inout SeededGenerator) -> [Int] {
    let count = 30_000
    switch name {
    case "zipf 0.7": return zipf(0.7, count: count, keys: 10_000, &generator)
    case "zipf 1.1": return zipf(1.1, count: count, keys: 10_000, &generator)
    case "loop": return (0..<count).map { $0 % 1_320 }
    case "scan":
      let base = zipf(0.9, count: count, keys: 10_000, &generator)
      return base.enumerated().flatMap { $0 % 3_000 < 1_500 && $0.isMultiple(of: 2) ? [$1, 10_000 + $0] : [$1] }
    default:
      let base = zipf(0.9, count: count, keys: 4_800, &generator)
      return base.enumerated().map { $1 + $0 / 14_400 * 1_680 }
    }
  }

  private static let names = ["zipf 0.7", "zipf 1.1", "scan", "loop", "working set"]

  @Test(arguments: names, Thoroughness.seeds(1, of: 2))
  func leastRecentlyUsedIsWithinAPointOfTheExactOne(name: String, seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let trace = Self.trace(name, &generator)
    let exact = Self.leastRecentlyUsed(trace, capacity: 1_200)
    let found = try Self.hits(trace, .lru, capacity: 1_200)
    #expect(found > exact - trace.count / 100, "\(name), seed \(seed): \(found) of \(trace.count), exactly \(exact)")
  }

  @Test(arguments: names, Thoroughness.seeds(1, of: 2))
  func scansAndLoopsDoNotEvictUsedEntries(name: String, seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let trace = Self.trace(name, &generator)
    let exact = Self.leastRecentlyUsed(trace, capacity: 1_200)
    let found = try Self.hits(trace, .s3FIFO, capacity: 1_200)
    let gain = ["scan", "loop"].contains(name) ? trace.count / 20 : -trace.count / 200
    #expect(found >= exact + gain, "\(name), seed \(seed): \(found) of \(trace.count), exact LRU \(exact)")
  }
}

extension [CacheKey] {
  /// The first index whose key comes after `key`, in a sorted array.
  fileprivate func partitioningIndex(after key: CacheKey) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle] <= key { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

struct VictimSearchTests {
  private static let now = Timestamp(milliseconds: 1_000)

  private static func entry(_ number: Int, bytes: Int, storedAt: Int64) throws -> ScannedEntry {
    let metadata = EntryMetadata(storedAt: Timestamp(milliseconds: storedAt))
    return ScannedEntry(key: try CacheKey("url/v1/\(number)"), metadata: metadata, payloadBytes: bytes)
  }

  private static func victim(
    _ summary: ScannedEntry, _ policy: EvictionPolicy, _ history: AccessHistory = AccessHistory()
  ) -> Victim? {
    let candidate = EvictionCandidate(summary, history: history, now: now)
    return Victim(candidate, among: EvictionSample([candidate], now: now), policy)
  }

  /// The expected choice, found by sorting: the fewest that are enough, and `spare` more.
  private static func expected(_ candidates: [Victim], _ needed: EntryCount, spare: Int) -> [CacheKey] {
    let sorted = candidates.sorted()
    var (total, count) = (EntryCount(), 0)
    while count < sorted.count, !total.covers(needed) {
      total += EntryCount(entries: 1, payloadBytes: sorted[count].payloadBytes)
      count += 1
    }
    return sorted.prefix(total.covers(needed) ? count + spare : sorted.count).map(\.key)
  }

  @Test(arguments: Thoroughness.seeds(60, of: 300)) func theFewestThatAreEnoughAreChosen(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let count = Int.random(in: 0...(seed % 10 == 0 ? 900 : 80), using: &generator)
    let times = Int64(count / 4 + 1)
    let entries = try (0..<count).map { number in
      try Self.entry(
        number, bytes: Int.random(in: 0...20, using: &generator), storedAt: .random(in: 0...times, using: &generator))
    }
    let candidates = entries.compactMap { Self.victim($0, .fifo) }
    let needed = EntryCount(
      entries: Int.random(in: 0...30, using: &generator), payloadBytes: Int.random(in: 1...400, using: &generator))
    let spare = Int.random(in: 0...5, using: &generator)
    var search = VictimSearch(.fifo, needed: needed, spareCount: spare, now: Self.now)
    for (number, entry) in entries.enumerated() {
      search.offer([entry]) { _ in [] }
      guard Int.random(in: 0..<50, using: &generator) == 0 else { continue }
      let expected = Self.expected(Array(candidates[...number]), needed, spare: spare)
      #expect(search.choose().victims.map(\.key) == expected, "seed \(seed), \(needed)")
    }
    let choice = search.choose()
    #expect(choice.victims.map(\.key) == Self.expected(candidates, needed, spare: spare), "seed \(seed), \(needed)")
    let all = EntryCount(entries: candidates.count, payloadBytes: candidates.reduce(0) { $0 + $1.payloadBytes })
    #expect(choice.isEnough == all.covers(needed), "seed \(seed)")
    #expect(!choice.isBeginning)
  }

  /// Entries with times ahead of the clock, which was set back, are not kept longest.
  @Test(arguments: [EvictionPolicy.lru, .fifo])
  func entriesStoredAheadOfTheClockAreEvictedFirst(policy: EvictionPolicy) throws {
    let times: [Int64] = [900, 61_001, 1_000, 61_000, 253_402_300_799_999]
    let candidates = try times.enumerated().compactMap { number, time in
      Self.victim(try Self.entry(number, bytes: 1, storedAt: time), policy)
    }
    let order = candidates.sorted().map(\.key.text)
    #expect(order == [1, 4, 0, 2, 3].map { "url/v1/\($0)" })
  }

  @Test func aChoiceHoldsNoMoreThanOnePassEvicts() throws {
    let count = VictimSearch.maximumVictims + 5_000
    let now = Timestamp(milliseconds: Int64(count))
    var search = VictimSearch(.fifo, needed: .init(entries: count, payloadBytes: 0), spareCount: 7, now: now)
    // The entries offered last are evicted first.
    search.offer(try (0..<count).map { try Self.entry($0, bytes: 0, storedAt: Int64(count - $0)) }) { _ in [] }
    let choice = search.choose()
    #expect(choice.isBeginning && !choice.isEnough)
    #expect(choice.victims.count == VictimSearch.maximumVictims)
    #expect(choice.victims.first?.key.text == "url/v1/\(count - 1)")
    #expect(choice.victims.last?.key.text == "url/v1/5000")
  }

  @Test(arguments: EvictionPolicy.standard) func expiredEntriesAreEvictedFirstUnderEveryPolicy(policy: EvictionPolicy)
    throws
  {
    func summary(_ key: String, retainUntil: Int64, storedAt: Int64) throws -> ScannedEntry {
      let end = Timestamp(milliseconds: retainUntil)
      return ScannedEntry(
        key: try CacheKey(key), metadata: EntryMetadata(storedAt: Timestamp(milliseconds: storedAt), until: end),
        payloadBytes: 1)
    }
    let entries = [
      try summary("b/1", retainUntil: 1_001, storedAt: 0), try summary("b/2", retainUntil: 1_000, storedAt: 999),
      try summary("b/3", retainUntil: 999, storedAt: 999), try summary("a/1", retainUntil: 1_000, storedAt: 999),
    ]
    let candidates = entries.compactMap { Self.victim($0, policy) }
    let order = ["b/3", "a/1", "b/2"] + (policy == .none ? [] : ["b/1"])
    #expect(candidates.sorted().map(\.key.text) == order)
  }

  /// Name, last use, number of uses, time of storing.
  private static let used: [(String, Int64, Int64, Int64)] = [
    ("a/1", 50, 3, 10), ("a/2", 50, 1, 10), ("a/3", 40, 1, 20), ("a/4", 0, 0, 45), ("a/5", 0, 0, 50), ("b/1", 50, 3, 9),
  ]

  @Test(arguments: [
    (EvictionPolicy.lru, ["a/3", "a/4", "b/1", "a/1", "a/2", "a/5"]),
    (.lfu, ["a/4", "a/5", "a/3", "a/2", "b/1", "a/1"]), (.fifo, ["b/1", "a/1", "a/2", "a/3", "a/4", "a/5"]),
    (.none, []),
  ])
  func theOrderFollowsThePolicy(policy: EvictionPolicy, order: [String]) throws {
    let candidates = try Self.used.compactMap { key, last, count, stored in
      let metadata = EntryMetadata(storedAt: Timestamp(milliseconds: stored))
      let use = AccessHistory(lastUsedAt: Timestamp(milliseconds: last), count: count)
      let summary = ScannedEntry(key: try CacheKey(key), metadata: metadata, payloadBytes: 0)
      return Self.victim(summary, policy, use)
    }
    #expect(candidates.sorted().map(\.key.text) == order)
  }
}
