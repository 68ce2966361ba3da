internal import Platform
internal import ResponseStorage
internal import StorageBenchmark
internal import StorageSPI
internal import Synchronization

/// A store at its limit, and what a call of it costs beside the same in a store with room.
struct FullStore {
  private let engine: String
  private let entries: Int
  private let folder: String

  /// Stores of `entries` entries of 1,000 bytes in `folder`.
  init(_ engine: String, entries: Int, folder: String) {
    (self.engine, self.entries, self.folder) = (engine, entries, folder)
  }

  /// The rows of `count` puts into a full store beside as many batches of a put and a removal in one with room: their
  /// mean, and the longest of them.
  func puts(_ label: String, count: Int, rounds: Int) async throws -> [String] {
    let turns = 10
    var room = try await Side(engine, folder + "/room", entries: entries, isFull: false)
    var full = try await Side(engine, folder + "/full", entries: entries, isFull: true)
    // Without the first writes, which count the entries of the full store.
    for _ in 0..<2 {
      try await room.put(max(1, count / 50))
      try await full.put(max(1, count / 50))
    }
    var (means, longest) = (Comparison(floor: [], project: []), Comparison(floor: [], project: []))
    for _ in 0..<rounds {
      (room.cost, full.cost) = (Side.Cost(), Side.Cost())
      for _ in 0..<turns {
        try await room.put(max(1, count / rounds / turns))
        try await full.put(max(1, count / rounds / turns))
      }
      means.add(room.cost.mean, full.cost.mean)
      longest.add(Double(room.cost.longest), Double(full.cost.longest))
    }
    try await room.close()
    try await full.close()
    return [
      means.row(label: "\(label), a put", .processorEach, .ofFloor(0.77)),
      longest.row(label: "\(label), the longest put", .process, .longer(10e6)),
    ]
  }

  /// The row of reads whose use is recorded, by two threads beside one.
  func uses(_ label: String, rounds: Int) async throws -> String {
    var side = try await Side(engine, folder + "/full", entries: entries, isFull: true, isFilled: false)
    try await side.put(entries)
    _ = try await side.read(threads: 1)
    var speeds = Comparison(floor: [], project: [])
    for _ in 0..<rounds { speeds.add(try await side.read(threads: 1), try await side.read(threads: 2)) }
    try await side.close()
    return speeds.row(label: label, .elapsed, .ofFloor(1))
  }
}

/// A store with what was measured on it.
private struct Side {
  /// What puts have cost, in nanoseconds.
  struct Cost {
    var puts = 0
    var processorTime: UInt64 = 0
    var longest: UInt64 = 0
    var mean: Double { Double(processorTime) / Double(max(puts, 1)) }
  }

  private static let payload = [UInt8](repeating: 7, count: 1_000)

  var cost = Cost()
  private let store: EntryStore
  private let entries: Int
  private let isFull: Bool
  /// The number of the next entry to be stored.
  private var next: Int

  /// - Parameter isFilled: whether it begins with `entries` entries.
  init(_ engine: String, _ path: String, entries: Int, isFull: Bool, isFilled: Bool = true) async throws {
    let clock = AdvancingClock()
    let engine = try await Store(engine: engine, path: path).location.open(clock: clock)
    store = EntryStore(
      engine: engine, clock: clock,
      limits: StoreLimits(maxEntries: isFull ? entries : 1 << 40, maxBytes: 1 << 50), decoded: .none)
    (self.entries, self.isFull, next) = (entries, isFull, isFilled ? entries : 0)
    guard isFilled else { return }
    for start in stride(from: 0, to: entries, by: 1_000) {
      var batch = WriteBatch()
      for number in start..<min(start + 1_000, entries) {
        batch.put(try Self.key(number), payload: Self.payload, metadata: Self.metadata(clock.now))
      }
      try await engine.apply(batch)
    }
  }

  func close() async throws { try await store.close() }

  /// Keys in no order of their age.
  private static func key(_ number: Int) throws -> CacheKey {
    let digits = String(UInt64(number) &* 0x9E37_79B9_7F4A_7C15, radix: 16)
    return try CacheKey("url/v1/" + String(repeating: "0", count: 16 - digits.count) + digits)
  }

  private static func metadata(_ now: Timestamp) -> EntryMetadata {
    let end = now.advanced(by: .seconds(7 * 86_400))
    return EntryMetadata(storedAt: now, freshUntil: end, retainUntil: end, contentType: "application/json")
  }

  /// Puts `count` entries. A store that is not full also removes the oldest entry with each.
  mutating func put(_ count: Int) async throws {
    let probe = BenchmarkProbe.system
    let start = probe.processorNanoseconds()
    for _ in 0..<count {
      var batch = WriteBatch()
      if !isFull { batch.remove(try Self.key(next - entries)) }
      let key = try Self.key(next)
      next += 1
      let before = probe.now()
      try await store.write(key, payload: Self.payload, metadata: Self.metadata(store.clock.now), with: batch)
      cost.longest = max(cost.longest, probe.now() - before)
    }
    cost.processorTime += probe.processorNanoseconds() - start
    cost.puts += count
  }

  /// Reads each entry once, and records its use, by several threads. Returns the nanoseconds that passed for each.
  func read(threads: Int) async throws -> Double {
    let (store, entries) = (store, entries)
    let keys = try (0..<entries).map { try Self.key($0) }
    let start = BenchmarkProbe.system.now()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for first in 0..<threads {
        group.addTask {
          var index = first
          while index < entries {
            guard try await store.read(keys[index], { bytes, _ in bytes.count }) != nil else {
              throw EntryMissing(key: keys[index].text)
            }
            store.countLookUp(keys[index])
            index += threads
          }
        }
      }
      try await group.waitForAll()
    }
    return Double(BenchmarkProbe.system.now() - start) / Double(entries)
  }
}

extension Comparison {
  /// Adds a pair of measurements.
  fileprivate mutating func add(_ floor: Double, _ project: Double) {
    self = Comparison(floor: self.floor + [floor], project: self.project + [project])
  }
}

/// Each call is a millisecond later, as in a store that lives for some time. It begins a day ago, so that a process that
/// opens the store afterwards finds its entries unexpired.
private final class AdvancingClock: WallClock {
  private let milliseconds = Atomic(SystemWallClock().now.advanced(by: .seconds(-86_400)).milliseconds)
  var now: Timestamp { Timestamp(milliseconds: milliseconds.add(1, ordering: .relaxed).newValue) }
}
