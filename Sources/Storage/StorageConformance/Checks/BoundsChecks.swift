internal import EngineSupport
internal import StorageSPI
internal import Synchronization

/// The bounds of a batch hold exactly, over the whole store, or nothing changes.
enum BoundsChecks {
  static let all = [
    ConformanceCheck("bounds-entries", "a batch may fill the store to the last entry and no further", entries),
    ConformanceCheck("bounds-bytes", "a batch may fill the store to the last byte of payload and no further", bytes),
    ConformanceCheck("bounds-all-namespaces", "bounds count all namespaces, changed by the batch or not", namespaces),
    ConformanceCheck("bounds-replacing", "an entry that is replaced counts once, by its new size", replacing),
    ConformanceCheck("bounds-removing", "what a batch removes makes room for what it puts, in any order", removing),
    ConformanceCheck("bounds-exempt", "the entries of the exempt namespace are not counted", exempt),
    ConformanceCheck("bounds-exceeded", "a batch that exceeds its bounds changes nothing", exceeded),
    ConformanceCheck(
      "bounds-exceeded-persistent", "after a batch that exceeded its bounds, an opened store is as before it",
      requires: [.persistent], exceededPersistent),
    ConformanceCheck("bounds-lowered", "a store that is too full can be emptied without bounds", lowered),
    ConformanceCheck("bounds-without-changes", "bounds hold for a batch without changes too", withoutChanges),
    ConformanceCheck("bounds-after-compacting", "what compacting removes is counted no longer", compacted),
  ].map { $0.requiring(.bounded) }

  /// Bounds with the given limits, which are too wide to matter by default.
  private static func bounds(
    _ maxEntries: Int = .max, bytes: Int = .max, exempt: String? = nil
  ) -> StoreBounds {
    StoreBounds(maxEntries: maxEntries, maxPayloadBytes: bytes, exemptNamespace: exempt)
  }

  private static func entry(_ size: Int) -> Entry {
    Entry(payload: .init(repeating: 7, count: size), metadata: Sample.metadata(checksum: UInt64(size)))
  }

  /// Stores entries of the given sizes within `bounds`, and expects success or failure.
  private static func put(
    _ sizes: [(key: String, size: Int)], removing removals: [String] = [], within bounds: StoreBounds, fits: Bool,
    _ engine: any StorageEngine
  ) async throws {
    var batch = WriteBatch()
    for (key, size) in sizes { batch.put(try CacheKey(key), entry(size)) }
    for key in removals { batch.remove(try CacheKey(key)) }
    batch.bounds = bounds
    guard !fits else { return try await engine.apply(batch) }
    try await expectError(.overBounds, "a batch that exceeds its bounds") { try await engine.apply(batch) }
  }

  private static func expect(_ engine: any StorageEngine, holds sizes: [String: Int]) async throws {
    var entries: [CacheKey: Entry] = [:]
    for (key, size) in sizes { entries[try CacheKey(key)] = entry(size) }
    try await engine.expectHolds(entries)
  }

  private static func entries(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    try await put([("cities/a", 1)], within: bounds(0), fits: false, engine)
    try await put([("cities/a", 0), ("cities/b", 9)], within: bounds(2), fits: true, engine)
    try await put([("cities/c", 0)], within: bounds(2), fits: false, engine)
    try await put([("cities/c", 0)], within: bounds(3), fits: true, engine)
    try await put([("cities/d", 0), ("cities/e", 0)], within: bounds(4), fits: false, engine)
    try await expect(engine, holds: ["cities/a": 0, "cities/b": 9, "cities/c": 0])
  }

  private static func bytes(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    try await put([("cities/a", 1)], within: bounds(bytes: 0), fits: false, engine)
    try await put([("cities/a", 0)], within: bounds(bytes: 0), fits: true, engine)
    try await put([("cities/b", 70_000)], within: bounds(bytes: 70_000), fits: true, engine)
    try await put([("cities/c", 5_001)], within: bounds(bytes: 75_000), fits: false, engine)
    try await put([("cities/c", 5_000)], within: bounds(bytes: 75_000), fits: true, engine)
    try await put([("cities/d", 1)], within: bounds(bytes: 75_000), fits: false, engine)
    try await expect(engine, holds: ["cities/a": 0, "cities/b": 70_000, "cities/c": 5_000])
  }

  private static func namespaces(_ context: ConformanceContext) async throws {
    var engine = try await context.open()
    let sizes = [("cities/a", 10), ("movies/a", 20), ("posters/a", 30)]
    try await put(sizes, within: bounds(3, bytes: 59), fits: false, engine)
    try await put(sizes, within: bounds(2, bytes: 60), fits: false, engine)
    try await put(sizes, within: bounds(3, bytes: 60), fits: true, engine)
    for round in 0..<2 {
      // In the second round nothing of the other namespaces is in memory.
      if round == 1, context.subject.capabilities.contains(.persistent) { engine = try await context.reopen(engine) }
      for key in ["cities/b", "movies/b", "towns/b"] {
        try await put([(key, 1)], within: bounds(3), fits: false, engine)
        try await put([(key, 1)], within: bounds(bytes: 60), fits: false, engine)
      }
    }
    try await put([("towns/b", 1)], within: bounds(4, bytes: 61), fits: true, engine)
    try await expect(engine, holds: ["cities/a": 10, "movies/a": 20, "posters/a": 30, "towns/b": 1])
  }

  private static func replacing(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    try await put([("cities/a", 10), ("movies/a", 10)], within: bounds(2, bytes: 20), fits: true, engine)
    try await put([("cities/a", 11)], within: bounds(2, bytes: 20), fits: false, engine)
    try await put([("cities/a", 9)], within: bounds(2, bytes: 19), fits: true, engine)
    try await put([("cities/a", 10)], within: bounds(2, bytes: 20), fits: true, engine)
    // Only the final contents count.
    let twice = [("movies/a", 500), ("movies/a", 10)]
    try await put(twice, within: bounds(2, bytes: 20), fits: true, engine)
    try await expect(engine, holds: ["cities/a": 10, "movies/a": 10])
  }

  private static func removing(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    let full = bounds(2, bytes: 20)
    try await put([("cities/a", 10), ("movies/a", 10)], within: full, fits: true, engine)
    try await put([("posters/a", 10)], removing: ["movies/absent"], within: full, fits: false, engine)
    try await put([("posters/a", 11)], removing: ["movies/a"], within: full, fits: false, engine)
    try await put([("posters/a", 10)], removing: ["movies/a"], within: full, fits: true, engine)
    var batch = WriteBatch()
    batch.remove(try CacheKey("cities/a"))
    batch.put(try CacheKey("cities/b"), entry(10))
    batch.bounds = full
    try await engine.apply(batch)
    try await put([("cities/c", 500)], removing: ["cities/c"], within: full, fits: true, engine)
    try await expect(engine, holds: ["cities/b": 10, "posters/a": 10])
  }

  private static func exempt(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    let bounds = bounds(1, bytes: 10, exempt: "leases")
    try await put([("cities/a", 10)], within: bounds, fits: true, engine)
    try await put([("leases/a", 500), ("leases/b", 1)], within: bounds, fits: true, engine)
    try await put([("cities/a", 9), ("leases/c", 1)], within: bounds, fits: true, engine)
    try await put([("cities/b", 0), ("leases/d", 1)], within: bounds, fits: false, engine)
    try await put([("leasesx/a", 0)], within: bounds, fits: false, engine)
    try await expect(engine, holds: ["cities/a": 9, "leases/a": 500, "leases/b": 1, "leases/c": 1])
  }

  /// A batch of every kind of change that exceeds its bounds by one entry at its very end.
  private static func exceed(
    _ context: ConformanceContext, _ check: (any StorageEngine) async throws -> any StorageEngine
  ) async throws {
    var engine = try await context.open()
    let before = ["cities/a": 1, "cities/b": 2, "movies/a": 3, "movies/b": 4]
    try await put(before.map { ($0.key, $0.value) }, within: bounds(4, bytes: 10), fits: true, engine)
    let changes = [("cities/a", 50), ("movies/a", 60), ("posters/a", 70), ("posters/b", 5), ("a/b", 1)]
    for bounds in [bounds(5), bounds(bytes: 189)] {
      try await put(changes, removing: ["cities/b", "cities/x"], within: bounds, fits: false, engine)
      engine = try await check(engine)
      try await expect(engine, holds: before)
    }
    try await put(changes, removing: ["cities/b"], within: bounds(6, bytes: 190), fits: true, engine)
  }

  private static func exceeded(_ context: ConformanceContext) async throws {
    try await exceed(context) { $0 }
  }

  private static func exceededPersistent(_ context: ConformanceContext) async throws {
    try await exceed(context) { try await context.reopen($0) }
  }

  private static func lowered(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    let sizes = (0..<6).map { ("cities/\($0)", 10) }
    try await put(sizes, within: bounds(6, bytes: 60), fits: true, engine)
    try await put([], removing: ["cities/0"], within: bounds(2), fits: false, engine)
    try await put([("cities/0", 1)], within: bounds(bytes: 50), fits: false, engine)
    for number in 0..<4 { try await engine.remove(try CacheKey("cities/\(number)")) }
    try await put([("cities/4", 11)], removing: ["cities/5"], within: bounds(1, bytes: 11), fits: true, engine)
    try await engine.put(try CacheKey("cities/5"), entry(99))
    try await expect(engine, holds: ["cities/4": 11, "cities/5": 99])
  }

  private static func withoutChanges(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    try await put([], within: bounds(0, bytes: 0), fits: true, engine)
    try await put([("cities/a", 3)], within: bounds(1, bytes: 3), fits: true, engine)
    try await put([], within: bounds(1, bytes: 3), fits: true, engine)
    try await put([], within: bounds(0, bytes: 3), fits: false, engine)
    try await put([], within: bounds(1, bytes: 2), fits: false, engine)
    try await expect(engine, holds: ["cities/a": 3])
  }

  private static func compacted(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    let short = Entry(payload: [1, 2], metadata: Sample.metadata(checksum: 1, retainedFor: .seconds(1)))
    try await engine.put(try ["cities/x", "movies/x"].map { (try CacheKey($0), short) })
    try await put([("cities/a", 5)], within: bounds(2), fits: false, engine)
    context.clock.advance(by: .seconds(1))
    try await engine.compact()
    try await put([("cities/a", 5)], within: bounds(1, bytes: 5), fits: true, engine)
    try await expect(engine, holds: ["cities/a": 5])
  }
}

/// Writers with the same bounds never exceed them together, and lose nothing.
enum BoundedWritersChecks {
  static let all = [
    ConformanceCheck(
      "concurrent-bounds", "concurrent batches never exceed their bounds, and lose nothing",
      requires: [.atomicBatches]
    ) {
      let engine = try await $0.open()
      try await expectBounded([engine, engine, engine], rounds: $0.rounds)
    },
    ConformanceCheck(
      "shared-bounds", "batches through several handles never exceed their bounds, and lose nothing",
      requires: [.shared, .atomicBatches]
    ) {
      var engines: [any StorageEngine] = []
      for _ in 0..<3 { engines.append(try await $0.open()) }
      try await expectBounded(engines, rounds: $0.rounds)
    },
  ].map { $0.requiring(.bounded) }

  private static let size = 100
  /// Room for five entries and not a byte more, plus the exempt entry, which always exists.
  private static let bounds = StoreBounds(maxEntries: 9, maxPayloadBytes: 5 * size, exemptNamespace: "leases")

  /// Lets each engine replace entries of others by its own, each engine in its own namespace, while an observer counts.
  private static func expectBounded(_ engines: [any StorageEngine], rounds: Int) async throws {
    let lease = try CacheKey("leases/a")
    try await engines[0].put(lease, entry)
    let progress = WriterProgress(writers: engines.count)
    let keys = try ["cities", "movies", "posters"].map { try Sample.keys(8 * rounds, namespace: $0) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (engine, keys) in zip(engines, keys) {
        group.addTask {
          defer { progress.end() }
          for key in keys { try await put(key, engine, progress, attempts: 400 * rounds) }
        }
      }
      let observer = engines[engines.count - 1]
      group.addTask {
        repeat {
          try await expectWithin(observer)
          await Task.yield()
        } while progress.isUnderWay
      }
      try await group.waitForAll()
    }
    let removed = progress.removals
    try expectEqual(Set(removed).count, removed.count, "entries that were removed, each once")
    let there = Set(keys.joined()).subtracting(removed).union([lease])
    for engine in engines {
      try await expectWithin(engine)
      try await engine.expectHolds(Dictionary(uniqueKeysWithValues: there.map { ($0, entry) }))
    }
  }

  private static var entry: Entry {
    Entry(payload: .init(repeating: 1, count: size), metadata: Sample.metadata())
  }

  /// Stores an entry under `key`, replacing the first entry of another writer if there is no room.
  private static func put(
    _ key: CacheKey, _ engine: any StorageEngine, _ progress: WriterProgress, attempts: Int
  ) async throws {
    var victim: CacheKey?
    for _ in 0..<attempts {
      var batch = WriteBatch()
      batch.bounds = bounds
      batch.put(key, entry)
      if let victim {
        batch.require(victim, .checksum(entry.metadata.checksum))
        batch.remove(victim)
      }
      do {
        try await engine.apply(batch)
        if let victim { progress.note(removal: victim) }
        return
      } catch {
        guard error.code == .overBounds || error.code == .conflict else { throw error }
        let others = try await engine.scanAll().map(\.key).filter { $0.namespace != "leases" }
        victim = others.count < 5 ? nil : others.first
      }
    }
    throw ConformanceFailure("\(key): no room in \(attempts) attempts, though each removed an entry")
  }

  private static func expectWithin(_ engine: any StorageEngine) async throws {
    let seen = try await engine.scanAll().count { $0.key.namespace != "leases" }
    try expect(seen <= 5, "a scan sees \(seen) entries where there is room for 5")
    let count = try await engine.count()
    let total = count.total(except: "leases")
    try expect(bounds.contain(count), "the engine counts \(total.entries) entries of \(total.payloadBytes) bytes")
  }
}

/// How many writers are still working, and the keys that they have removed.
final class WriterProgress: Sendable {
  private let state: Mutex<(writers: Int, removals: [CacheKey])>

  init(writers: Int) { state = Mutex((writers, [])) }

  var isUnderWay: Bool { state.withLock { $0.writers > 0 } }

  var removals: [CacheKey] { state.withLock { $0.removals } }

  func note(removal key: CacheKey) { state.withLock { $0.removals.append(key) } }

  func end() { state.withLock { $0.writers -= 1 } }
}
