internal import EngineAPI
internal import Synchronization

/// Any number of tasks may call an engine at the same time, and each sees a batch whole or not at all.
enum ConcurrencyChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck("concurrent-counter", "of concurrent read-require-put none is lost, and one always gets on") {
      try await expectCounts($0.openForTasks(), rounds: $0.rounds)
    },
    ConformanceCheck("concurrent-writes", "concurrent batches are all applied", writes),
    ConformanceCheck("concurrent-reads-whole", "a read during writes sees one whole value", reads),
    ConformanceCheck(
      "concurrent-batches-whole", "during writes each batch is seen whole, at least if its keys are in one group",
      batches),
    ConformanceCheck("concurrent-everything", "calls of all kinds at once all succeed", everything),
    ConformanceCheck("cancelled-call", "a cancelled call does all or nothing", cancelled),
    ConformanceCheck(
      "concurrent-bounds", "concurrent batches never exceed their bounds, and lose nothing",
      requires: [.bounded, .atomicBatches]
    ) { try await expectBounded($0, Array($0.openForTasks().prefix(3))) },
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

  private static func writes(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    let entries = try Sample.keys(60).enumerated().map { ($1, Sample.entry($0)) }
    try await concurrently(entries) { try await engine.put($0.0, entry: $0.1) }
    try await context.expectHolds(engine, Dictionary(uniqueKeysWithValues: entries))
  }

  private static func reads(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    let (key, count) = (try CacheKey("cities/a"), 40 * context.rounds)
    @Sendable func entry(_ number: Int) -> Entry { Sample.entry(number, size: 3_000 + number * 7) }
    try await engine.put(key, entry: entry(0))
    try await concurrently([0, 1, 2, 3]) { task in
      if task == 0 {
        for number in 1...count { try await engine.put(key, entry: entry(number)) }
        return
      }
      var last = 0
      while last < count, !Task.isCancelled {
        guard let got = try await engine.entry(key) else {
          throw ConformanceFailure("\(key): an overwritten entry is gone")
        }
        let number = Int(got.metadata.checksum)
        try expectEqual(got, entry(number), at: key)
        try expect(number >= last, "\(key): an older value after a newer one")
        last = number
        await Task.yield()
      }
    }
  }

  /// Writes batches over several namespaces, while other tasks scan and read.
  private static func batches(_ context: ConformanceContext) async throws {
    let engines = try await context.openForTasks()
    let writer = engines[0]
    let isAtomic = context.has(.atomicBatches)
    let keys =
      try isAtomic
      ? [CacheKey("cities/a"), CacheKey("movies/a"), Sample.key(length: 700, namespace: "posters")]
      : ["cities/a,x", "movies/a", "posters/a,y"].map { text throws(CacheError) in try CacheKey(text) }
    try await writer.put(keys.map { ($0, Sample.entry(0)) })
    let count = 30 * context.rounds
    try await concurrently([0, 1, 2]) { task in
      if task == 0 {
        for number in 1...count { try await writer.put(keys.map { ($0, Sample.entry(number)) }) }
        return
      }
      let reader = engines[task]
      var first: UInt64 = 0
      while first < count, !Task.isCancelled {
        if isAtomic {
          let seen = try await context.entries(of: reader).map(\.metadata.checksum)
          try expect(
            seen.count == keys.count && Set(seen).count == 1, "a scan sees a part of a batch: checksums \(seen)")
        }
        first = try await reader.entry(keys[0])?.metadata.checksum ?? 0
        let second = try await reader.entry(keys[1])?.metadata.checksum ?? 0
        try expect(first <= second, "of one batch the first put is seen (\(first)), the second is not (\(second))")
        await Task.yield()
      }
    }
  }

  private static func everything(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    let keys = try Sample.keys(8)
    try await concurrently(Array(0..<(48 * context.rounds))) { number in
      let key = keys[number % keys.count]
      switch number % 6 {
      case 0: try await engine.put(key, entry: Sample.entry(number))
      case 1: _ = try await engine.entry(key)
      case 2: _ = try await context.entries(of: engine)
      case 3: _ = try await engine.count()
      case 4: try await engine.compact()
      default: try expect(try await engine.check().isEmpty, "a check during writes finds damage")
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

  /// Room for five entries and not a byte more, plus the exempt entry, which always exists.
  private static let bounds = StoreBounds(maxEntries: 9, maxPayloadBytes: 500, exemptNamespace: "leases")
  private static let bounded = Sample.entry(1, size: 100)

  /// Lets each engine replace entries of others by its own, each engine in its own namespace, while an observer counts.
  private static func expectBounded(_ context: ConformanceContext, _ engines: [any StorageEngine]) async throws {
    let lease = try CacheKey("leases/a")
    try await engines[0].put(lease, entry: bounded)
    let removed = Mutex<[CacheKey]>([])
    let writers = Atomic(engines.count)
    let keys = try ["cities", "movies", "posters"].map { try Sample.keys(8 * context.rounds, namespace: $0) }
    try await concurrently(Array(0...engines.count)) { number in
      if number == engines.count {
        while writers.load(ordering: .relaxed) > 0, !Task.isCancelled {
          try await expectWithin(context, engines[0])
          await Task.yield()
        }
        return
      }
      defer { writers.subtract(1, ordering: .relaxed) }
      for key in keys[number] {
        if let victim = try await put(key, context, engines[number]) { removed.withLock { $0.append(victim) } }
      }
    }
    let gone = removed.withLock { $0 }
    try expectEqual(Set(gone).count, gone.count, "entries that were removed, each once")
    let there = Set(keys.joined()).subtracting(gone).union([lease])
    for engine in engines {
      try await expectWithin(context, engine)
      try await context.expectHolds(engine, Dictionary(uniqueKeysWithValues: there.map { ($0, bounded) }))
    }
  }

  /// Stores an entry under `key`, replacing the first entry of another writer if there is no room; returns the replaced key.
  private static func put(
    _ key: CacheKey, _ context: ConformanceContext, _ engine: any StorageEngine
  ) async throws -> CacheKey? {
    var victim: CacheKey?
    for _ in 0..<(400 * context.rounds) {
      var batch = WriteBatch()
      batch.bounds = bounds
      batch.put(key, payload: bounded.payload, metadata: bounded.metadata)
      if let victim {
        batch.require(victim, .checksum(bounded.metadata.checksum))
        batch.remove(victim)
      }
      do {
        try await engine.apply(batch)
        return victim
      } catch {
        guard error.code == .overBounds || error.code == .conflict else { throw error }
        let others = try await context.entries(of: engine).map(\.key).filter { $0.namespace != "leases" }
        victim = others.count < 5 ? nil : others.first
      }
    }
    throw ConformanceFailure("\(key): there is never room, though each attempt removes an entry")
  }

  private static func expectWithin(_ context: ConformanceContext, _ engine: any StorageEngine) async throws {
    let seen = try await context.entries(of: engine).count { $0.key.namespace != "leases" }
    try expect(seen <= 5, "a scan sees \(seen) entries in a store with room for 5")
    let count = try await engine.count()
    try expect(bounds.contain(count), "the count is \(count.total(except: "leases"))")
  }
}
