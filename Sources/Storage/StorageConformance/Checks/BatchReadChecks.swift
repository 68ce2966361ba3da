internal import StorageSPI

/// Reading several entries in one call gives the same as reading each of them. An engine that is not `BatchReading` passes.
enum BatchReadChecks {
  static let all = [
    ConformanceCheck("batch-read", "several entries read at once are what each is", asSingly),
    ConformanceCheck("batch-read-closed", "several entries cannot be read after closing", closed),
  ]

  private static func asSingly(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    guard let reader = engine.batchReader else { return }
    var entries: [(CacheKey, Entry)] = []
    for (number, key) in try Sample.keys(300).enumerated() {
      let payload = Sample.payload(count: 40 * number, repeating: [UInt8(truncatingIfNeeded: number)])
      entries.append((key, Entry(payload: payload, metadata: Sample.metadata(checksum: UInt64(number)))))
    }
    try await engine.put(entries)
    let absent = try ["cities/absent", "movies/absent"].map { try CacheKey($0) }
    try await engine.remove(entries[7].0)
    var expected = Dictionary(uniqueKeysWithValues: entries)
    expected[entries[7].0] = nil
    for keys in [entries.map(\.0).reversed() + absent, absent, [entries[8].0], []] {
      let found = try await reader.read(keys)
      try expectEqual(found.count, keys.count, "the number of entries read at once")
      for (key, result) in zip(keys, found) { try expectEqual(try result.get(), expected[key], at: key) }
    }
    try await engine.put(entries[8].0, Sample.entry(9))
    try expectEqual(try await reader.read([entries[8].0]).first?.get(), Sample.entry(9), at: entries[8].0)
  }

  private static func closed(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    guard let reader = engine.batchReader else { return }
    let key = try CacheKey("cities/a")
    try await engine.put(key, Sample.entry())
    try await engine.close()
    try await expectError(.closed, "reading several entries") { _ = try await reader.read([key]) }
  }
}
