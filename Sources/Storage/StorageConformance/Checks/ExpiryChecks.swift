internal import EngineSupport
internal import StorageSPI

/// An entry is kept until it expires, and removed when the store is compacted.
enum ExpiryChecks {
  static let all = [
    ConformanceCheck("expiry-kept-to-the-last", "an entry is there a millisecond before its end, also compacted", kept),
    ConformanceCheck("expiry-at-the-end", "compacting exactly at the end of an entry removes it", removed),
    ConformanceCheck("expiry-stale-is-kept", "an entry that is no longer fresh is kept", stale),
    ConformanceCheck("expiry-only-expired", "compacting removes the expired entries and no others", onlyExpired),
    ConformanceCheck("expiry-never", "an entry without end survives the end of time minus a millisecond", never),
    ConformanceCheck("expiry-stored-in-future", "an entry stored in the future is kept", storedInFuture),
    ConformanceCheck("expiry-extended", "an entry written again lives as long as it says now", extended),
    ConformanceCheck("expiry-dropped-or-whole", "an entry that has expired is whole or absent", droppedOrWhole),
    ConformanceCheck("compact-empty", "an empty store can be compacted, again and again", compactEmpty),
    ConformanceCheck(
      "compact-gives-space-back", "compacting a store that was emptied makes it smaller", requires: [.persistent], space
    ),
  ]

  private static let hour = Sample.metadata().retainUntil

  /// Keys of each kind, each with an entry that expires after an hour.
  private static func entries() throws -> [CacheKey: Entry] {
    let keys = [try CacheKey("cities/a"), try CacheKey("movies/a"), try Sample.key(length: 700)]
    return Dictionary(uniqueKeysWithValues: keys.map { ($0, Sample.entry()) })
  }

  private static func filled(_ context: ConformanceContext, _ entries: [CacheKey: Entry]) async throws
    -> any StorageEngine
  {
    let engine = try await context.open()
    try await engine.put(entries.map { ($0.key, $0.value) })
    return engine
  }

  private static func kept(_ context: ConformanceContext) async throws {
    let engine = try await filled(context, try entries())
    context.clock.set(hour.advanced(by: .milliseconds(-1)))
    try await engine.expectHolds(try entries())
    try await engine.compact()
    try await engine.expectHolds(try entries())
    guard context.subject.capabilities.contains(.persistent) else { return }
    try await context.reopen(engine).expectHolds(try entries())
  }

  private static func removed(_ context: ConformanceContext) async throws {
    let engine = try await filled(context, try entries())
    context.clock.set(hour)
    try await engine.compact()
    try await engine.expectHolds([:])
    for key in try entries().keys {
      var batch = WriteBatch()
      batch.require(key, .absent)
      try await engine.apply(batch)
    }
  }

  private static func stale(_ context: ConformanceContext) async throws {
    let engine = try await filled(context, try entries())
    context.clock.set(Sample.metadata().freshUntil.advanced(by: .seconds(1)))
    try await engine.compact()
    try await engine.expectHolds(try entries())
  }

  private static func onlyExpired(_ context: ConformanceContext) async throws {
    var entries: [CacheKey: Entry] = [:]
    for (number, key) in try (Sample.keys(40) + Sample.keys(10, namespace: "movies")).enumerated() {
      entries[key] = Sample.entry(number, retainedFor: .seconds(number + 1))
    }
    let engine = try await filled(context, entries)
    for seconds in [1, 20, 21, 45, 50] {
      context.clock.set(Sample.start.advanced(by: .seconds(seconds)))
      try await engine.compact()
      entries = entries.filter { $0.value.metadata.retainUntil > context.clock.now }
      try await engine.expectHolds(entries)
    }
  }

  private static func never(_ context: ConformanceContext) async throws {
    var metadata = Sample.metadata()
    metadata.retainUntil = .distantFuture
    let entries = [try CacheKey("cities/a"): Entry(payload: [1], metadata: metadata)]
    let engine = try await filled(context, entries)
    context.clock.set(Timestamp.distantFuture.advanced(by: .milliseconds(-1)))
    try await engine.compact()
    try await engine.expectHolds(entries)
  }

  private static func storedInFuture(_ context: ConformanceContext) async throws {
    var metadata = Sample.metadata()
    metadata.storedAt = hour.advanced(by: .seconds(86_400))
    metadata.freshUntil = hour.advanced(by: .seconds(86_401))
    let entries = [try CacheKey("cities/a"): Entry(payload: [1], metadata: metadata)]
    let engine = try await filled(context, entries)
    try await engine.compact()
    try await engine.expectHolds(entries)
    context.clock.set(Timestamp(milliseconds: 0))
    try await engine.compact()
    try await engine.expectHolds(entries)
  }

  private static func extended(_ context: ConformanceContext) async throws {
    let keys = try Sample.keys(2)
    let engine = try await filled(context, [keys[0]: Sample.entry(1), keys[1]: Sample.entry(1)])
    let longer = Sample.entry(2, retainedFor: .seconds(7_200))
    try await engine.put([(keys[0], longer), (keys[1], Sample.entry(2, retainedFor: .seconds(10)))])
    context.clock.set(Sample.start.advanced(by: .seconds(10)))
    try await engine.compact()
    try await engine.expectHolds([keys[0]: longer])
    context.clock.set(hour)
    try await engine.compact()
    try await engine.expectHolds([keys[0]: longer])
  }

  private static func droppedOrWhole(_ context: ConformanceContext) async throws {
    let entries = try entries()
    let engine = try await filled(context, entries)
    context.clock.set(hour.advanced(by: .seconds(1)))
    for (key, expected) in entries {
      if let got = try await engine.entry(key) { try expectEqual(got, expected, at: key) }
      try await engine.put(key, Sample.entry(3, retainedFor: .seconds(7_200)))
      try expectEqual(try await engine.entry(key), Sample.entry(3, retainedFor: .seconds(7_200)), at: key)
    }
  }

  private static func compactEmpty(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    for _ in 0..<3 { try await engine.compact() }
    try await engine.expectHolds([:])
    try await engine.put(try CacheKey("cities/a"), Sample.entry())
    for _ in 0..<3 { try await engine.compact() }
    try await engine.expectHolds([try CacheKey("cities/a"): Sample.entry()])
  }

  private static func space(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    var generator = context.generator()
    let block = generator.bytes(65_536)
    let keys = try Sample.keys(64)
    try await engine.put(keys.map { ($0, Entry(payload: block, metadata: Sample.metadata())) })
    let before = try await engine.count().storageBytes
    try expect(before >= block.count, "a store of 4 MiB of noise claims to take up \(before) bytes")
    var batch = WriteBatch()
    for key in keys { batch.remove(key) }
    try await engine.apply(batch)
    try await engine.compact()
    let after = try await engine.count().storageBytes
    try expect(after < before / 2, "the store took up \(before) bytes, and emptied and compacted still \(after)")
    try await engine.expectHolds([:])
  }
}
