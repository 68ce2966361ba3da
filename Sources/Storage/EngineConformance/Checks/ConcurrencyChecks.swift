internal import CacheBase
internal import EngineAPI
internal import Synchronization

/// Any number of tasks can call an engine at the same time, and each sees all of a batch or nothing of it.
enum ConcurrencyChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck("concurrent-counter", "of concurrent read-require-put none is lost, and one always gets on") {
      try await expectCounts($0.openForTasks(), rounds: $0.rounds)
    },
    ConformanceCheck("concurrent-calls", "calls of all kinds at once all succeed, and no change is lost", everything),
    ConformanceCheck(
      "concurrent-batches-whole",
      "during writes each value and batch is seen complete, at least if its keys are in one group",
      batches),
    ConformanceCheck("cancelled-call", "a cancelled call does all or nothing", cancelled),
    ConformanceCheck(
      "concurrent-bounds", "concurrent batches never exceed their bounds, and lose nothing",
      requires: [.bounded, .atomicBatches], bounded),
  ]

  /// Calls `body` with each of `items`, all at once.
  static func concurrently<Item: Sendable>(
    _ items: [Item], _ body: @escaping @Sendable (Item) async throws -> Void
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for item in items { group.addTask { try await body(item) } }
      try await group.waitForAll()
    }
  }

  /// Lets all engines increment one counter concurrently, by reading it, requiring the value read, and writing: in turn the
  /// whole entry and its metadata alone.
  ///
  /// An attempt fails only if another has succeeded, so no task needs more attempts than there are increments.
  private static func expectCounts(_ engines: [any StorageEngine], rounds: Int) async throws {
    let key = try CacheKey("counters/a")
    let increments = 10 * rounds
    let most = increments * engines.count
    try await concurrently(engines) { engine in
      var attempts = 0
      for _ in 0..<increments {
        while try await !increment(key, in: engine) {
          attempts += 1
          try expect(attempts <= most, "\(key): conflicts though no other task writes")
        }
      }
    }
    for engine in engines {
      let count = try await engine.entry(key)?.metadata.checksum
      try expectEqual(count, UInt64(most), "the counter after \(engines.count) tasks")
    }
  }

  private static func increment(_ key: CacheKey, in engine: any StorageEngine) async throws -> Bool {
    let old = try await engine.entry(key)?.metadata.checksum
    let new = Sample.entry(Int(old ?? 0) + 1)
    var batch = WriteBatch()
    if let old, old.isMultiple(of: 2) {
      batch.update(key, metadata: new.metadata, from: old)
    } else {
      batch.require(key, old.map { .checksum($0) } ?? .absent)
      batch.put(key, payload: new.payload, metadata: new.metadata)
    }
    do {
      try await engine.apply(batch)
      return true
    } catch {
      guard error.code == .conflict else { throw error }
      return false
    }
  }

  /// Reads entries of some namespaces while others are created. Batches need not wait for the disk, so that many calls
  /// overlap.
  private static func everything(_ context: ConformanceContext) async throws {
    @Sendable func key(_ number: Int) throws -> CacheKey { try CacheKey("n\(number / 2)x/\(number)") }
    var engines = try await context.openForTasks()
    let count = 60 * context.rounds
    try await engines[0].put((0..<count).map { (try key($0), Sample.entry($0)) })
    if context.has(.persistent) {
      for engine in engines { try await engine.close() }
      engines = try await context.openForTasks([EngineOption.durability.name: .text(Durability.relaxed.rawValue)])
    }
    try await concurrently(Array(0..<count)) { [engines] (number: Int) in
      let engine = engines[number % 4]
      try expectEqual(try await engine.entry(key(number)), Sample.entry(number), at: key(number))
      try await engine.put(key(number + count), entry: Sample.entry(number))
      try expectEqual(try await engine.entry(key(number + count)), Sample.entry(number), at: key(number + count))
      switch number % 6 {
      case 0: _ = try await context.entries(of: engine)
      case 1: _ = try await engine.count()
      case 2: try await engine.compact()
      case 3: try expect(try await engine.check().isEmpty, "a check during writes finds damage")
      default: break
      }
    }
    let entries = try (0..<2 * count).map { (try key($0), Sample.entry($0 % count)) }
    for engine in engines { try await context.expectHolds(engine, Dictionary(uniqueKeysWithValues: entries)) }
  }

  /// Writes batches over several namespaces, while other tasks scan and read.
  private static func batches(_ context: ConformanceContext) async throws {
    let engines = try await context.openForTasks()
    let isAtomic = context.has(.atomicBatches)
    let keys =
      try isAtomic
      ? [CacheKey("cities/a"), CacheKey("movies/a"), Sample.key(length: 700, namespace: "posters")]
      : ["cities/a,x", "movies/a", "posters/a,y"].map { text throws(CacheError) in try CacheKey(text) }
    @Sendable func entry(_ number: Int) -> Entry { Sample.entry(number, size: 3_000 + number * 7) }
    try await engines[0].put(keys.map { ($0, entry(0)) })
    let count = 40 * context.rounds
    try await concurrently([0, 1, 2]) { task in
      if task == 0 {
        for number in 1...count { try await engines[0].put(keys.map { ($0, entry(number)) }) }
        return
      }
      var latest = [0, 0]
      while latest[0] < count, !Task.isCancelled {
        if isAtomic {
          let seen = try await context.entries(of: engines[task]).map(\.metadata.checksum)
          try expect(
            seen.count == keys.count && Set(seen).count == 1, "a scan sees a part of a batch: checksums \(seen)")
        }
        for (place, key) in keys.prefix(2).enumerated() {
          guard let got = try await engines[task].entry(key) else {
            throw ConformanceFailure("\(key): an overwritten entry is gone")
          }
          let number = Int(got.metadata.checksum)
          try expectEqual(got, entry(number), at: key)
          try expect(number >= latest[place], "\(key): an older value after a newer one")
          latest[place] = number
        }
        try expect(latest[0] <= latest[1], "of one batch the first put is seen (\(latest[0])), the second is not")
        await Task.yield()
      }
    }
  }

  private static func cancelled(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    let entries = try Sample.keys(3).map { ($0, Sample.entry()) }
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await engine.put(entries)
    }
    switch await task.result {
    case .success: try await context.expectHolds(engine, Dictionary(uniqueKeysWithValues: entries))
    case .failure(let error as CacheError) where error.code == .cancelled: try await context.expectHolds(engine, [:])
    case .failure(let error): throw error
    }
    try await engine.put(entries[0].0, entry: Sample.entry(2))
    try expectEqual(try await engine.entry(entries[0].0), Sample.entry(2), at: entries[0].0)
  }

  /// Lets tasks fill a store with room for five entries, each in its own namespace. A task whose entry has no room replaces
  /// its own oldest one, or goes without if it has none.
  private static func bounded(_ context: ConformanceContext) async throws {
    let engines = Array(try await context.openForTasks().prefix(3))
    let bounds = StoreBounds(maxEntries: 9, maxPayloadBytes: 500)
    let entry = Sample.entry(1, size: 100)
    let kept = Mutex<[CacheKey: Entry]>([:])
    let writers = Atomic(engines.count)
    let keys = try ["cities", "movies", "posters"].map { try Sample.keys(10 * context.rounds, namespace: $0) }
    try await concurrently(Array(0...engines.count)) { (number: Int) in
      guard number < engines.count else {
        while writers.load(ordering: .relaxed) > 0, !Task.isCancelled {
          let seen = try await context.entries(of: engines[0]).count
          try expect(seen <= 5, "a scan sees \(seen) entries in a store with room for 5")
          try expect(bounds.contain(try await engines[0].count()), "the count is beyond the bounds")
          await Task.yield()
        }
        return
      }
      defer { writers.subtract(1, ordering: .relaxed) }
      var own: [CacheKey] = []
      for key in keys[number] {
        for victim in [nil, own.first] {
          var batch = WriteBatch([.put(key, payload: entry.payload, entry.metadata)])
          if let victim { batch.remove(victim) }
          batch.bounds = bounds
          do throws(CacheError) {
            try await engines[number].apply(batch)
            own = own.filter { $0 != victim } + [key]
            break
          } catch {
            guard error.code == .overBounds, victim == nil else { throw error }
          }
        }
      }
      kept.withLock { [own] in for key in own { $0[key] = entry } }
    }
    let left = kept.withLock { $0 }
    try expect(left.count <= 5, "\(left.count) entries are left in a store with room for 5")
    for engine in engines { try await context.expectHolds(engine, left) }
  }
}
