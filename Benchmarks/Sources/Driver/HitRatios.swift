internal import CacheBase
internal import CacheCore
internal import EngineAPI
internal import MemoryStorage
internal import Synchronization

/// The lookups of a cache that are generated after a published definition. All values have the same size.
enum GeneratedTrace: String {
  /// Independent lookups: key `k` of 50,000 in proportion to `1 / k^0.7`.
  case zipfian07 = "zipfian-0.7"
  /// The same with an exponent of 0.9.
  case zipfian09 = "zipfian-0.9"
  /// The same with an exponent of 1.1.
  case zipfian11 = "zipfian-1.1"
  /// `zipfian09`, and after every 10,000 of its lookups one lookup each of 5,000 keys that never come again.
  case scan
  /// 50,000 keys one after the other, over and over: with a cache of nine tenths of them, the least recently used entry
  /// is always the next one needed.
  case loop
  /// Zipfian lookups (0.9) of 5,000 keys at a time; after every 50,000 lookups, half of these are replaced by new
  /// ones.
  case workingSet = "working-set"

  private static let keys = 50_000
  private static let lookups = 500_000

  init(named name: String) throws {
    guard let trace = GeneratedTrace(rawValue: name) else { throw Failed("there is no trace '\(name)'") }
    self = trace
  }

  /// The keys that are looked up, in order: always the same.
  private var lookedUp: [Int] {
    var keys: [Int] = []
    var random = SeededGenerator(seed: 1)
    func draw(_ count: Int, _ table: ZipfianTable) { for _ in 0..<count { keys.append(table.draw(&random)) } }
    switch self {
    case .zipfian07: draw(Self.lookups, ZipfianTable(Self.keys, exponent: 0.7))
    case .zipfian09: draw(Self.lookups, ZipfianTable(Self.keys, exponent: 0.9))
    case .zipfian11: draw(Self.lookups, ZipfianTable(Self.keys, exponent: 1.1))
    case .scan:
      let table = ZipfianTable(Self.keys, exponent: 0.9)
      for scan in 0..<33 {
        draw(10_000, table)
        keys += (0..<5_000).map { Self.keys + scan * 5_000 + $0 }
      }
    case .loop: keys = (0..<Self.lookups).map { $0 % Self.keys }
    case .workingSet:
      let table = ZipfianTable(5_000, exponent: 0.9)
      var set = Array(0..<5_000)
      for period in 1...10 {
        for _ in 0..<50_000 { keys.append(set[table.draw(&random)]) }
        for place in stride(from: 0, to: 5_000, by: 2) { set[place] = period * 5_000 + place }
      }
    }
    return keys
  }

  /// The same lookups, by numbers in the order in which each key is first looked up.
  private var numbers: [Int] {
    var numbers: [Int: Int] = [:]
    return lookedUp.map { key in
      let number = numbers[key] ?? numbers.count
      numbers[key] = number
      return number
    }
  }

  /// The share of the trace that a cache of `capacity` entries serves if it evicts exactly the least recently used.
  func leastRecentlyUsedHitRatio(capacity: Int) -> Double {
    let numbers = numbers
    // When each key that is held was looked up last; -1 for the others.
    var lastUse = [Int](repeating: -1, count: numbers.count)
    var held = 0
    var oldest = 0
    var hits = 0
    for (time, number) in numbers.enumerated() {
      if lastUse[number] >= 0 {
        hits += 1
      } else if held < capacity {
        held += 1
      } else {
        while lastUse[numbers[oldest]] != oldest { oldest += 1 }
        lastUse[numbers[oldest]] = -1
      }
      lastUse[number] = time
    }
    return Double(hits) / Double(numbers.count)
  }

  /// The share of the trace that the cache serves with room for `capacity` entries, by the policy called `policy`. It
  /// is the real cache over an engine in memory, with a clock that advances by a millisecond with each lookup.
  func hitRatio(_ policy: String, capacity: Int) async throws -> Double {
    guard let policy = EvictionPolicy.standard.first(where: { $0.name == policy }) else {
      throw Failed("there is no policy '\(policy)'")
    }
    let numbers = numbers
    // Popular keys and new ones are anywhere in the order of keys, as in a store.
    let keys = try (0...(numbers.max() ?? 0)).map { number in
      try CacheKey("trace/" + String(UInt64(number) &* 0x9E37_79B9_7F4A_7C15, radix: 36))
    }
    let clock = LookupClock()
    let plugin = MemoryPlugin()
    let engine = try await plugin.open(EngineConfiguration(for: plugin.declaration, values: [:], clock: clock))
    let store = EntryStore(
      engine: engine, clock: clock, limits: StoreLimits(maxEntries: capacity, maxBytes: .max, eviction: policy))
    var hits = 0
    for number in numbers {
      clock.tick()
      let key = keys[number]
      if try await store.read(key, { _, _ in true }) != nil {
        store.countLookUp(key)
        hits += 1
      } else {
        store.countLookUp(nil)
        try await store.write(
          key, payload: [0],
          metadata: EntryMetadata(
            storedAt: clock.now, freshUntil: .distantFuture, retainUntil: .distantFuture, contentType: ""))
      }
    }
    try await store.close()
    return Double(hits) / Double(numbers.count)
  }
}

/// Numbers drawn in proportion to `1 / (number + 1)^exponent`, exactly: by a search in the cumulative sums.
private struct ZipfianTable {
  private let sums: [Double]

  /// The table for `count` numbers, 1 or more.
  init(_ count: Int, exponent: Double) {
    var sum = 0.0
    sums = (1...count).map { number in
      sum += 1 / pow(Double(number), exponent)
      return sum
    }
  }

  /// Draws a number from 0 up to, but not including, the count.
  func draw(_ random: inout SeededGenerator) -> Int {
    let target = random.unit() * sums[sums.count - 1]
    var low = 0
    var high = sums.count - 1
    while low < high {
      let middle = (low + high) / 2
      if sums[middle] > target { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

/// A clock that advances by a millisecond with each lookup: the order of uses does not depend on the machine.
private final class LookupClock: WallClock {
  private let milliseconds = Atomic<Int64>(0)

  var now: Timestamp { Timestamp(milliseconds: milliseconds.load(ordering: .relaxed)) }

  func tick() { milliseconds.add(1, ordering: .relaxed) }
}
