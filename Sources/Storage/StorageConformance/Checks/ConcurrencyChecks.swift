internal import EngineSupport
internal import StorageSPI

/// Any number of tasks may call an engine concurrently, and each sees a batch completely or not at all.
enum ConcurrencyChecks {
  static let all = [
    ConformanceCheck("concurrent-counter", "of concurrent read-require-put none is lost, and one always gets on") {
      let engine = try await $0.open()
      try await expectCounts([engine, engine, engine, engine], rounds: $0.rounds)
    },
    ConformanceCheck("concurrent-writes", "concurrent batches are all applied", writes),
    ConformanceCheck("concurrent-reads-whole", "a read during writes sees one whole value", torn),
    ConformanceCheck(
      "concurrent-batches-whole", "a scan during writes sees each batch whole", requires: [.atomicBatches]
    ) {
      let engine = try await $0.open()
      try await expectWholeBatches(writer: engine, reader: engine, rounds: $0.rounds)
    },
    ConformanceCheck("concurrent-everything", "calls of all kinds at once all succeed", everything),
    ConformanceCheck("cancelled-call", "a cancelled call does all or nothing", cancelled),
  ]

  /// Lets all engines increment one counter concurrently, by reading it, requiring the value read, and writing.
  ///
  /// An attempt fails only if another has succeeded, so no task needs more attempts than there are increments.
  static func expectCounts(_ engines: [any StorageEngine], rounds: Int) async throws {
    let key = try CacheKey("counters/a")
    let increments = 10 * rounds
    try await withThrowingTaskGroup(of: Void.self) { group in
      for engine in engines {
        group.addTask {
          var attempts = 0
          for _ in 0..<increments {
            while try await !increment(key, in: engine) {
              attempts += 1
              try expect(attempts <= increments * engines.count, "\(key): conflicts though no other task writes")
            }
          }
        }
      }
      try await group.waitForAll()
    }
    for engine in engines {
      let count = try await engine.entry(key)?.metadata.checksum
      try expectEqual(count, UInt64(increments * engines.count), "the counter after \(engines.count) tasks")
    }
  }

  private static func increment(_ key: CacheKey, in engine: any StorageEngine) async throws -> Bool {
    let old = try await engine.entry(key)?.metadata.checksum
    var batch = WriteBatch()
    batch.require(key, old.map { .checksum($0) } ?? .absent)
    batch.put(key, Sample.entry(Int(old ?? 0) + 1))
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
    let keys = try Sample.keys(60)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (number, key) in keys.enumerated() {
        group.addTask { try await engine.put(key, Sample.entry(number)) }
      }
      try await group.waitForAll()
    }
    try await engine.expectHolds(Dictionary(uniqueKeysWithValues: keys.enumerated().map { ($1, Sample.entry($0)) }))
  }

  /// An entry with `number` in every part.
  private static func uniform(_ number: Int) -> Entry {
    var metadata = Sample.metadata(checksum: UInt64(number))
    metadata.attributes = ["number": "\(number)"]
    return Entry(payload: .init(repeating: UInt8(number % 251), count: 3_000 + number * 7), metadata: metadata)
  }

  private static func torn(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    let key = try CacheKey("cities/a")
    try await engine.put(key, uniform(0))
    let count = 40 * context.rounds
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { for number in 1...count { try await engine.put(key, uniform(number)) } }
      for _ in 0..<3 {
        group.addTask {
          var last: UInt64 = 0
          while last < UInt64(count), !Task.isCancelled {
            guard let got = try await engine.entry(key) else {
              throw ConformanceFailure("\(key): an overwritten entry is gone")
            }
            try expectEqual(got, uniform(Int(got.metadata.checksum)), at: key)
            try expect(got.metadata.checksum >= last, "\(key): an older value after a newer one")
            last = got.metadata.checksum
            await Task.yield()
          }
        }
      }
      try await group.waitForAll()
    }
  }

  /// Writes batches over several namespaces through one handle, while another handle scans and reads.
  static func expectWholeBatches(writer: any StorageEngine, reader: any StorageEngine, rounds: Int) async throws {
    let keys = try [CacheKey("cities/a"), CacheKey("movies/a"), Sample.key(length: 700, namespace: "posters")]
    try await writer.put(keys.map { ($0, Sample.entry(0)) })
    let count = 30 * rounds
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for number in 1...count { try await writer.put(keys.map { ($0, Sample.entry(number)) }) }
      }
      for _ in 0..<2 {
        group.addTask {
          while !Task.isCancelled, try await expectWhole(reader, keys) < UInt64(count) { await Task.yield() }
        }
      }
      try await group.waitForAll()
    }
  }

  private static func expectWhole(_ reader: any StorageEngine, _ keys: [CacheKey]) async throws -> UInt64 {
    let seen = try await reader.scanAll().map(\.metadata.checksum)
    try expect(seen.count == keys.count && Set(seen).count == 1, "a scan sees a part of a batch: checksums \(seen)")
    let first = try await reader.entry(keys[0])?.metadata.checksum ?? 0
    let second = try await reader.entry(keys[1])?.metadata.checksum ?? 0
    try expect(first <= second, "of one batch the first put is seen (\(first)), the second is not (\(second))")
    return first
  }

  private static func everything(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    let keys = try Sample.keys(8)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<(48 * context.rounds) {
        let key = keys[number % keys.count]
        group.addTask {
          switch number % 6 {
          case 0: try await engine.put(key, Sample.entry(number))
          case 1: _ = try await engine.entry(key)
          case 2: _ = try await engine.scanAll()
          case 3: _ = try await engine.count()
          case 4: try await engine.compact()
          default:
            try expect(try await engine.check().isEmpty, "an integrity check during writes finds damage")
          }
        }
      }
      try await group.waitForAll()
    }
  }

  private static func cancelled(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    let keys = try Sample.keys(3)
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await engine.put(keys.map { ($0, Sample.entry()) })
    }
    switch await task.result {
    case .success: try await engine.expectHolds(Dictionary(uniqueKeysWithValues: keys.map { ($0, Sample.entry()) }))
    case .failure(let error as CacheError) where error.code == .cancelled: try await engine.expectHolds([:])
    case .failure(let error): throw error
    }
    try await engine.put(keys[0], Sample.entry(2))
    try expectEqual(try await engine.entry(keys[0]), Sample.entry(2), at: keys[0])
  }
}
