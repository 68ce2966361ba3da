internal import StorageSPI
internal import Synchronization

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
  ].map { $0.unless(.ownBounds) }

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
    let tally = try await engine.statistics().tally
    let total = tally.total(except: "leases")
    try expect(bounds.contain(tally), "statistics count \(total.entries) entries of \(total.payloadBytes) bytes")
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
