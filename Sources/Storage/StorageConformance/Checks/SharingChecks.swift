internal import EngineSupport
internal import StorageSPI

/// Handles on one store see each other's commits at once.
enum SharingChecks {
  static let all = [
    check("shared-sees-commits", "a commit of one handle is seen by another at once", seesCommits),
    check("shared-alternating", "two handles that write in turn keep each other's entries", alternating),
    check("shared-requirements", "a requirement sees what another handle has written", requirements),
    check("shared-failed-batch", "a batch that fails on one handle changes nothing for another", failedBatch),
    check("shared-counter", "of concurrent read-require-put through several handles none is lost") { context in
      var engines: [any StorageEngine] = []
      for _ in 0..<3 { engines.append(try await context.open()) }
      try await ConcurrencyChecks.expectCounts(engines, rounds: context.rounds)
    },
    check("shared-batches-whole", "another handle sees each batch whole", requires: [.atomicBatches]) { context in
      let (writer, reader) = (try await context.open(), try await context.open())
      try await ConcurrencyChecks.expectWholeBatches(writer: writer, reader: reader, rounds: context.rounds)
    },
    check("shared-compacting", "what one handle compacts is gone for another, which goes on", compacting),
    check("shared-closing-one", "one handle is closed and another goes on", closingOne),
    check("shared-many-handles", "a dozen handles on one store", manyHandles),
    check("shared-separate-stores", "handles on different stores see nothing of each other", separate),
  ]

  private static func check(
    _ name: String, _ summary: String, requires further: [EngineCapability] = [],
    _ body: @escaping @Sendable (ConformanceContext) async throws -> Void
  ) -> ConformanceCheck {
    ConformanceCheck(name, summary, requires: [.shared] + further, body)
  }

  private static func seesCommits(_ context: ConformanceContext) async throws {
    let (first, second) = (try await context.open(), try await context.open())
    let keys = try [CacheKey("cities/a"), CacheKey("movies/a"), Sample.key(length: 700)]
    var entries: [CacheKey: Entry] = [:]
    for (number, key) in keys.enumerated() {
      try expectEqual(try await second.entry(key), nil, at: key)
      for version in 1...3 {
        entries[key] = Sample.entry(number * 10 + version)
        try await first.put(key, Sample.entry(number * 10 + version))
        try await second.expectHolds(entries)
      }
    }
    try await second.remove(keys[0])
    entries[keys[0]] = nil
    try await first.expectHolds(entries)
  }

  private static func alternating(_ context: ConformanceContext) async throws {
    let handles = [try await context.open(), try await context.open()]
    var entries: [CacheKey: Entry] = [:]
    for (number, key) in try Sample.keys(20).enumerated() {
      entries[key] = Sample.entry(number)
      try await handles[number % 2].put(key, Sample.entry(number))
      try await handles[(number + 1) % 2].expectHolds(entries)
    }
    try await handles[0].expectHolds(entries)
  }

  private static func requirements(_ context: ConformanceContext) async throws {
    let (first, second) = (try await context.open(), try await context.open())
    let key = try CacheKey("cities/a")
    _ = try await second.entry(key)
    try await first.put(key, Sample.entry(1))
    var outdated = WriteBatch()
    outdated.require(key, .absent)
    outdated.put(key, Sample.entry(2))
    try await expectError(.conflict, "requiring absence of what another handle wrote") {
      try await second.apply(outdated)
    }
    var current = WriteBatch()
    current.require(key, .checksum(1))
    current.put(key, Sample.entry(3))
    try await second.apply(current)
    try await expectError(.conflict, "requiring what another handle replaced") { try await first.apply(current) }
    try await first.expectHolds([key: Sample.entry(3)])
  }

  private static func failedBatch(_ context: ConformanceContext) async throws {
    let (first, second) = (try await context.open(), try await context.open())
    let key = try CacheKey("cities/a")
    try await first.put(key, Sample.entry(1))
    var batch = WriteBatch()
    batch.put(key, Sample.entry(2))
    batch.put(try CacheKey("movies/a"), Sample.entry(2))
    batch.require(key, .absent)
    try await expectError(.conflict, "a batch that fails") { try await first.apply(batch) }
    try await second.expectHolds([key: Sample.entry(1)])
    try await first.expectHolds([key: Sample.entry(1)])
  }

  private static func compacting(_ context: ConformanceContext) async throws {
    let (first, second) = (try await context.open(), try await context.open())
    let keys = try Sample.keys(40)
    let short = Sample.entry(1, retainedFor: .seconds(1))
    try await second.put(keys.enumerated().map { ($1, $0.isMultiple(of: 2) ? Sample.entry(2) : short) })
    context.clock.advance(by: .seconds(1))
    try await first.compact()
    let kept = keys.enumerated().filter { $0.offset.isMultiple(of: 2) }.map { ($0.element, Sample.entry(2)) }
    var entries = Dictionary(uniqueKeysWithValues: kept)
    try await second.expectHolds(entries)
    entries[keys[1]] = Sample.entry(3)
    try await second.put(keys[1], Sample.entry(3))
    try await first.expectHolds(entries)
  }

  private static func closingOne(_ context: ConformanceContext) async throws {
    let (first, second) = (try await context.open(), try await context.open())
    let key = try CacheKey("cities/a")
    try await first.put(key, Sample.entry(1))
    try await first.close()
    try await second.expectHolds([key: Sample.entry(1)])
    try await second.put(key, Sample.entry(2))
    try await ClosingChecks.expectClosed(first, key)
    let third = try await context.open()
    try await third.expectHolds([key: Sample.entry(2)])
    try await second.expectHolds([key: Sample.entry(2)])
  }

  private static func manyHandles(_ context: ConformanceContext) async throws {
    var handles: [any StorageEngine] = []
    for _ in 0..<12 { handles.append(try await context.open()) }
    var entries: [CacheKey: Entry] = [:]
    for (handle, key) in zip(handles, try Sample.keys(12)) {
      entries[key] = Sample.entry(7)
      try await handle.put(key, Sample.entry(7))
    }
    for handle in handles { try await handle.expectHolds(entries) }
  }

  private static func separate(_ context: ConformanceContext) async throws {
    let (first, second) = (try await context.open(store: "first"), try await context.open(store: "second"))
    let key = try CacheKey("cities/a")
    try await first.put(key, Sample.entry(1))
    try await second.expectHolds([:])
    try await second.put(key, Sample.entry(2))
    try await first.expectHolds([key: Sample.entry(1)])
  }
}
