import SeededNumbers
import EngineConformance
import EngineAPI
import Testing

@testable import CacheCore

struct VictimSearchTests {
  private static let now = Timestamp(milliseconds: 1_000)

  private static func entry(_ number: Int, bytes: Int, storedAt: Int64) throws -> ScannedEntry {
    let metadata = EntryMetadata(
      storedAt: Timestamp(milliseconds: storedAt), freshUntil: .distantFuture, retainUntil: .distantFuture,
      contentType: "")
    return ScannedEntry(key: try CacheKey("url/v1/\(number)"), metadata: metadata, payloadBytes: bytes)
  }

  private static func victim(
    _ summary: ScannedEntry, _ policy: EvictionPolicy, _ history: AccessHistory = AccessHistory()
  ) -> Victim? {
    let candidate = EvictionCandidate(summary, history: history, now: now)
    return Victim(candidate, among: EvictionSample([candidate], now: now), policy)
  }

  /// The expected choice, found by sorting: the fewest that are enough, and `spare` more.
  private static func expected(
    _ candidates: [Victim], _ needed: EntryCount, spare: Int
  ) -> [CacheKey] {
    let sorted = candidates.sorted()
    var (total, count) = (EntryCount(), 0)
    while count < sorted.count, !total.covers(needed) {
      total += EntryCount(entries: 1, payloadBytes: sorted[count].payloadBytes)
      count += 1
    }
    return sorted.prefix(total.covers(needed) ? count + spare : sorted.count).map(\.key)
  }

  @Test(arguments: Thoroughness.seeds(60, of: 300))
  func theFewestThatAreEnoughAreChosen(seed: UInt64) throws {
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
    #expect(
      choice.victims.map(\.key) == Self.expected(candidates, needed, spare: spare), "seed \(seed), \(needed)")
    let all = EntryCount(entries: candidates.count, payloadBytes: candidates.reduce(0) { $0 + $1.payloadBytes })
    #expect(choice.isEnough == all.covers(needed), "seed \(seed)")
    #expect(!choice.isBeginning)
  }

  /// Entries with times ahead of the clock, which was set back, are not kept longest.
  @Test(arguments: [EvictionPolicy.lru, .fifo])
  func whatWasStoredAheadOfTheClockGoesFirst(policy: EvictionPolicy) throws {
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
    // The entries offered last go first.
    search.offer(try (0..<count).map { try Self.entry($0, bytes: 0, storedAt: Int64(count - $0)) }) { _ in [] }
    let choice = search.choose()
    #expect(choice.isBeginning && !choice.isEnough)
    #expect(choice.victims.count == VictimSearch.maximumVictims)
    #expect(choice.victims.first?.key.text == "url/v1/\(count - 1)")
    #expect(choice.victims.last?.key.text == "url/v1/5000")
  }

  @Test(arguments: EvictionPolicy.standard)
  func whatIsExpiredGoesFirstUnderEveryPolicy(policy: EvictionPolicy) throws {
    func summary(_ key: String, retainUntil: Int64, storedAt: Int64) throws -> ScannedEntry {
      let end = Timestamp(milliseconds: retainUntil)
      return ScannedEntry(
        key: try CacheKey(key),
        metadata: EntryMetadata(
          storedAt: Timestamp(milliseconds: storedAt), freshUntil: end, retainUntil: end, contentType: ""),
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
    (.lfu, ["a/4", "a/5", "a/3", "a/2", "b/1", "a/1"]),
    (.fifo, ["b/1", "a/1", "a/2", "a/3", "a/4", "a/5"]), (.none, []),
  ])
  func theOrderIsThatOfThePolicy(policy: EvictionPolicy, order: [String]) throws {
    let candidates = try Self.used.compactMap { key, last, count, stored in
      let metadata = EntryMetadata(
        storedAt: Timestamp(milliseconds: stored), freshUntil: .distantFuture, retainUntil: .distantFuture,
        contentType: "")
      let use = AccessHistory(lastUsedAt: Timestamp(milliseconds: last), count: count)
      let summary = ScannedEntry(key: try CacheKey(key), metadata: metadata, payloadBytes: 0)
      return Self.victim(summary, policy, use)
    }
    #expect(candidates.sorted().map(\.key.text) == order)
  }
}
