import Foundation
import SeededNumbers
import EngineConformance
import EngineAPI
import TestStorage
import Testing

@testable import CacheCore

/// How well a cache does whose victims are chosen among some entries, beside exact LRU. No engine takes part.
struct HitRatioTests {
  /// A cache of keys in order, with what is known of each.
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
      let metadata = EntryMetadata(
        storedAt: Timestamp(milliseconds: stored[key] ?? 0), freshUntil: .distantFuture, retainUntil: .distantFuture,
        contentType: "")
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
  func scansAndLoopsDoNotPushOutWhatIsUsed(name: String, seed: UInt64) throws {
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
