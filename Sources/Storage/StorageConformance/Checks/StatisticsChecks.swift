internal import StorageSPI

/// Statistics count what is in the store, and an integrity check finds no fault.
enum StatisticsChecks {
  static let all = [
    ConformanceCheck("statistics-follow-changes", "statistics are right after every kind of change", changes),
    ConformanceCheck("statistics-of-long-keys", "entries with long keys are counted like others", longKeys),
    ConformanceCheck("statistics-storage-bytes", "a store with an entry takes up space", storageBytes),
    ConformanceCheck(
      "integrity-of-sound-store", "an integrity check finds nothing wrong with a sound store", integrity),
  ]

  private static func changes(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    var entries: [CacheKey: Entry] = [:]
    try await engine.expectStatistics(entries)
    for (number, text) in ["movies/a", "cities/a", "cities/b", "cities/a", "posters/a", "movies/a"].enumerated() {
      let count = [10, 5_000, 0, 70_000, 1, 3][number]
      let seconds = number == 4 ? 1 : 3_600
      let metadata = Sample.metadata(checksum: 1, retainedFor: .seconds(seconds))
      let entry = Entry(payload: .init(repeating: 1, count: count), metadata: metadata)
      entries[try CacheKey(text)] = entry
      try await engine.put(try CacheKey(text), entry)
      try await engine.expectStatistics(entries)
    }
    for text in ["cities/b", "movies/a"] {
      entries[try CacheKey(text)] = nil
      try await engine.remove(try CacheKey(text))
      try await engine.expectStatistics(entries)
    }
    context.clock.advance(by: .seconds(1))
    try await engine.compact()
    entries[try CacheKey("posters/a")] = nil
    try await engine.expectStatistics(entries)
  }

  private static func longKeys(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    var entries: [CacheKey: Entry] = [:]
    for number in 0..<10 { entries[try Sample.key(length: 900, suffix: "/\(number)")] = Sample.entry(number) }
    try await engine.put(entries.map { ($0.key, $0.value) })
    try await engine.expectStatistics(entries)
    let key = try Sample.key(length: 900, suffix: "/5")
    entries[key] = nil
    try await engine.remove(key)
    try await engine.expectStatistics(entries)
  }

  private static func storageBytes(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    let empty = try await engine.statistics().storageBytes
    try expect(empty >= 0, "an empty store claims to take up \(empty) bytes")
    var generator = context.generator()
    let payload = generator.bytes(300_000)
    try await engine.put(try CacheKey("cities/a"), Entry(payload: payload, metadata: Sample.metadata()))
    let filled = try await engine.statistics().storageBytes
    try expect(filled >= payload.count, "a store of \(payload.count) bytes of noise claims to take up \(filled)")
  }

  private static func integrity(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    try await expectSound(engine, "an empty store")
    var generator = context.generator()
    for (number, key) in try (Sample.keys(50) + ScanChecks.keys()).enumerated() {
      let payload = generator.bytes(Int.random(in: 0...6_000, using: &generator))
      try await engine.put(key, Entry(payload: payload, metadata: Sample.metadata(checksum: UInt64(number))))
      if number.isMultiple(of: 3) { try await engine.remove(key) }
    }
    try await expectSound(engine, "a store that was worked on")
    try await engine.compact()
    try await expectSound(engine, "a store that was compacted")
  }

  private static func expectSound(_ engine: any StorageEngine, _ what: String) async throws {
    let issues = try await engine.checkIntegrity().map { "\($0.kind.rawValue): \($0.message)" }
    try expect(issues.isEmpty, "integrity of \(what): \(issues.prefix(3).joined(separator: "; "))")
  }
}
