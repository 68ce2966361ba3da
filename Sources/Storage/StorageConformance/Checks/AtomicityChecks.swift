internal import EngineSupport
internal import StorageSPI

/// A failing batch changes nothing.
enum AtomicityChecks {
  static let all = [
    ConformanceCheck("failed-batch-one-namespace", "a batch that fails half way changes nothing", oneNamespace),
    ConformanceCheck(
      "failed-batch-many-namespaces", "a batch over several namespaces that fails changes none of them",
      requires: [.atomicBatches], manyNamespaces),
    ConformanceCheck(
      "failed-batch-persistent", "after a batch that failed, an opened store is as before it",
      requires: [.persistent, .atomicBatches], persistent),
    ConformanceCheck("failed-batch-large", "a large batch that fails at its end changes nothing", large),
    ConformanceCheck("engine-works-after-failure", "after many failed batches the engine works as before", afterwards),
  ]

  /// The entries in the store before the failing batch: three in each of the namespaces.
  private static func entries(_ namespaces: [String]) throws -> [CacheKey: Entry] {
    var entries: [CacheKey: Entry] = [:]
    for namespace in namespaces {
      for (number, key) in try Sample.keys(3, namespace: namespace).enumerated() { entries[key] = Sample.entry(number) }
    }
    return entries
  }

  /// Operations that overwrite, remove and create entries, some with long keys, in each of the namespaces.
  private static func changes(_ namespaces: [String]) throws -> [WriteBatch.Operation] {
    try namespaces.flatMap { namespace -> [WriteBatch.Operation] in
      let keys = try Sample.keys(4, namespace: namespace)
      let entry = Sample.entry(99)
      let long = try Sample.key(length: 800, namespace: namespace)
      return [
        .put(keys[0], payload: entry.payload, entry.metadata), .remove(keys[1]),
        .put(keys[3], payload: entry.payload, entry.metadata), .put(long, payload: entry.payload, entry.metadata),
        .remove(keys[0]), .put(keys[1], payload: entry.payload, entry.metadata),
      ]
    }
  }

  /// The operations, with a false requirement before the one at `position`.
  private static func failing(_ operations: [WriteBatch.Operation], at position: Int) throws -> WriteBatch {
    var batch = WriteBatch()
    for (index, operation) in operations.enumerated() {
      if index == position { batch.require(try CacheKey("absent/a"), .checksum(1)) }
      batch.append(operation)
    }
    if position == operations.count { batch.require(try CacheKey("absent/a"), .checksum(1)) }
    return batch
  }

  private static func run(_ context: ConformanceContext, _ namespaces: [String], reopening: Bool) async throws {
    var engine = try await context.open()
    let entries = try entries(namespaces)
    let operations = try changes(namespaces)
    try await engine.put(entries.map { ($0.key, $0.value) })
    for position in 0...operations.count {
      let batch = try failing(operations, at: position)
      try await expectError(.conflict, "a batch that fails at operation \(position)") { try await engine.apply(batch) }
      if reopening { engine = try await context.reopen(engine) }
      try await engine.expectHolds(entries)
    }
  }

  private static func oneNamespace(_ context: ConformanceContext) async throws {
    try await run(context, ["cities"], reopening: false)
  }

  private static func manyNamespaces(_ context: ConformanceContext) async throws {
    try await run(context, ["cities", "a", "movies"], reopening: false)
  }

  private static func persistent(_ context: ConformanceContext) async throws {
    try await run(context, ["cities", "movies"], reopening: true)
  }

  private static func large(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    let keys = try Sample.keys(400)
    try await engine.put(keys.map { ($0, Sample.entry(1)) })
    var batch = WriteBatch()
    for key in keys { batch.put(key, Entry(payload: .init(repeating: 7, count: 2_000), metadata: Sample.metadata())) }
    for key in keys.prefix(200) { batch.remove(key) }
    batch.require(keys[0], .checksum(1))
    try await expectError(.conflict, "a batch of 600 changes that fails") { try await engine.apply(batch) }
    try await engine.expectHolds(Dictionary(uniqueKeysWithValues: keys.map { ($0, Sample.entry(1)) }))
  }

  private static func afterwards(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    let key = try CacheKey("cities/a")
    let batch = try failing(try changes(["cities"]), at: 3)
    for _ in 0..<200 {
      try await expectError(.conflict, "a batch that fails") { try await engine.apply(batch) }
    }
    try await engine.put(key, Sample.entry(5))
    try await engine.expectHolds([key: Sample.entry(5)])
  }
}

extension WriteBatch {
  /// Adds `operation`.
  mutating func append(_ operation: Operation) {
    switch operation {
    case .put(let key, let payload, let metadata): put(key, payload: payload, metadata: metadata)
    case .update(let key, let metadata, let checksum): update(key, metadata: metadata, from: checksum)
    case .remove(let key): remove(key)
    case .require(let key, let expectation): require(key, expectation)
    }
  }
}
