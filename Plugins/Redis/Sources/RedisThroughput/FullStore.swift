import Platform
import ResponseStorage
import StorageSPI
import Synchronization

/// Writers to a store at its limit, and to one far from it, in turns. Each writer has connections, an estimate of what
/// the store holds and a record of uses of its own, as if it were a process.
struct FullStore {
  private static let payload = [UInt8](repeating: 120, count: 1_000)
  private static let rounds = 3

  let plugin: any StoragePlugin
  let url: String
  let entries: Int

  func measure() async throws {
    for store in ["room", "full"] { try await fill(store) }
    for writers in [1, 4, 12] {
      var room = try await Side(self, "room", limit: 1 << 40, writers: writers)
      var full = try await Side(self, "full", limit: entries, writers: writers)
      try await room.run(for: .seconds(1), isMeasured: false)
      try await full.run(for: .seconds(1), isMeasured: false)
      for _ in 0..<Self.rounds {
        try await room.run(for: .seconds(4))
        try await full.run(for: .seconds(4))
      }
      let held = try await full.stores[0].engine.statistics().entries
      report("\(entries) entries, \(writers) writers, room: \(room)")
      report("\(entries) entries, \(writers) writers, full: \(full); holds \(held)")
      try await room.close()
      try await full.close()
    }
  }

  func open(_ store: String) async throws -> any StorageEngine {
    let values = ["url": OptionValue.text(url), "prefix": .text("throughput-\(store)")]
    return try await plugin.open(EngineConfiguration(for: plugin.declaration, values: values, clock: SystemClock()))
  }

  private func fill(_ store: String) async throws {
    let engine = try await open(store)
    for start in stride(from: 0, to: entries, by: 1_000) {
      var batch = WriteBatch()
      for number in start..<min(start + 1_000, entries) {
        batch.put(try Self.key(number), payload: Self.payload, metadata: Self.metadata())
      }
      try await engine.apply(batch)
    }
    try await engine.close()
  }

  /// Keys in no order.
  static func key(_ number: Int) throws(CacheError) -> CacheKey {
    try CacheKey("url/v1/\(UInt64(truncatingIfNeeded: number) &* 0x9E37_79B9_7F4A_7C15)")
  }

  static func metadata() -> EntryMetadata {
    let now = SystemClock().now
    let end = now.advanced(by: .seconds(7 * 86_400))
    return EntryMetadata(storedAt: now, freshUntil: end, retainUntil: end, contentType: "application/json")
  }

  /// The writers to one of the stores, with what was measured of them.
  private struct Side: CustomStringConvertible {
    private static let next = Atomic<Int>(1 << 40)

    let stores: [(store: EntryStore, engine: any StorageEngine)]
    private var time = Duration.zero
    private var times: [Duration] = []

    init(_ measurement: FullStore, _ name: String, limit: Int, writers: Int) async throws {
      var stores: [(store: EntryStore, engine: any StorageEngine)] = []
      for _ in 0..<writers {
        let engine = try await measurement.open(name)
        let limits = StoreLimits(maxEntries: limit, maxBytes: 1 << 50)
        let store = EntryStore(
          engine: engine, clock: SystemClock(), limits: limits, removesExpired: false, decoded: .none)
        stores.append((store, engine))
      }
      self.stores = stores
    }

    mutating func run(for duration: Duration, isMeasured: Bool = true) async throws {
      let start = ContinuousClock.now
      let end = start.advanced(by: duration)
      let times = try await withThrowingTaskGroup(of: [Duration].self) { group in
        for (store, _) in stores {
          group.addTask {
            var times: [Duration] = []
            while case let before = ContinuousClock.now, before < end {
              let key = try FullStore.key(Self.next.add(1, ordering: .relaxed).newValue)
              try await store.write(key, payload: FullStore.payload, metadata: FullStore.metadata())
              times.append(before.duration(to: .now))
              // A put may be done without a pause. Writers in processes of their own would not wait for each other's.
              await Task.yield()
            }
            return times
          }
        }
        return try await group.reduce(into: []) { $0 += $1 }
      }
      guard isMeasured else { return }
      time += start.duration(to: .now)
      self.times += times
    }

    func close() async throws {
      for (store, _) in stores { try await store.close() }
    }

    var description: String {
      let sorted = times.sorted()
      func milliseconds(_ share: Double) -> Double {
        guard let last = sorted.last else { return 0 }
        let time = share == 1 ? last : sorted[Int(Double(sorted.count) * share)]
        return Double(Int(time / .microseconds(10))) / 100
      }
      let puts = Int(Double(times.count) / (time / .seconds(1)))
      return "\(puts) puts a second, p50 \(milliseconds(0.5)) ms, p99 \(milliseconds(0.99)), longest \(milliseconds(1))"
    }
  }
}
