internal import StorageSPI

/// A closed engine reports that it is closed, and nothing else.
enum ClosingChecks {
  static let all = [
    ConformanceCheck("close-twice", "closing a closed engine does nothing", twice),
    ConformanceCheck("closed-calls-fail", "after closing, a call of any kind fails with closed", calls),
    ConformanceCheck(
      "close-during-calls", "calls under way when an engine is closed succeed, or fail with closed", during),
    ConformanceCheck("open-and-close-often", "an engine can be opened and closed any number of times", often),
  ]

  private static func twice(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    try await engine.put(try CacheKey("cities/a"), Sample.entry())
    for _ in 0..<3 { try await engine.close() }
  }

  private static func calls(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    let key = try CacheKey("cities/a")
    try await engine.put(key, Sample.entry())
    _ = try await engine.entry(key)
    try await engine.close()
    try await expectClosed(engine, key)
  }

  /// Throws a failure unless every call fails with `closed`.
  static func expectClosed(_ engine: any StorageEngine, _ key: CacheKey) async throws {
    try await expectError(.closed, "read after close") { _ = try await engine.entry(key) }
    let absent = try CacheKey("absent/a")
    try await expectError(.closed, "read of nothing after close") { _ = try await engine.entry(absent) }
    try await expectError(.closed, "apply after close") { try await engine.put(key, Sample.entry()) }
    try await expectError(.closed, "apply of an empty batch after close") { try await engine.apply(WriteBatch()) }
    try await expectError(.closed, "scan after close") { _ = try await engine.scanAll() }
    try await expectError(.closed, "statistics after close") { _ = try await engine.statistics() }
    try await expectError(.closed, "checkIntegrity after close") { _ = try await engine.checkIntegrity() }
    try await expectError(.closed, "compact after close") { try await engine.compact() }
  }

  private static func during(_ context: ConformanceContext) async throws {
    for round in 0..<5 {
      let engine = try await context.open(store: "round-\(round)")
      let keys = try Sample.keys(20)
      try await engine.put(keys.map { ($0, Sample.entry()) })
      try await withThrowingTaskGroup(of: Void.self) { group in
        for key in keys {
          group.addTask {
            try await unlessClosed { try expectEqual(try await engine.entry(key), Sample.entry(), at: key) }
          }
          group.addTask { try await unlessClosed { try await engine.put(key, Sample.entry()) } }
        }
        group.addTask { try await engine.close() }
        try await group.waitForAll()
      }
      try await expectClosed(engine, keys[0])
    }
  }

  private static func unlessClosed(_ body: () async throws -> Void) async throws {
    do {
      try await body()
    } catch let error as CacheError where error.code == .closed {}
  }

  private static func often(_ context: ConformanceContext) async throws {
    let key = try CacheKey("cities/a")
    for number in 1...(25 * context.rounds) {
      let engine = try await context.open()
      try await engine.put(key, Sample.entry(number))
      try expectEqual(try await engine.entry(key), Sample.entry(number), at: key)
      try await engine.close()
    }
  }
}
