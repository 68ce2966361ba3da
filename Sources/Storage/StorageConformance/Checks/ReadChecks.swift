internal import EngineSupport
internal import StorageSPI
internal import Synchronization

/// What a read returns, and how it treats the caller's closure.
enum ReadChecks {
  static let all = [
    ConformanceCheck("absent-is-nil", "reading a key that has no entry gives nil, not an error", absent),
    ConformanceCheck("put-then-read", "an entry reads as it was written", putThenRead),
    ConformanceCheck("overwrite", "a later entry takes the place of the former, shorter or longer", overwrite),
    ConformanceCheck("remove", "a removed entry is absent, and its neighbours are not", remove),
    ConformanceCheck("remove-absent", "removing what is not there succeeds and changes nothing", removeAbsent),
    ConformanceCheck(
      "read-calls-body-once", "a read calls its closure once if there is an entry, else never", bodyCalls),
    ConformanceCheck("read-passes-error-through", "an error that the closure throws reaches the caller", bodyError),
    ConformanceCheck("reading-changes-nothing", "reading, scanning and counting leave the store as it is", readOnly),
  ]

  private static func absent(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    let key = try CacheKey("cities/a")
    try expectEqual(try await engine.entry(key), nil, at: key)
    try await engine.put(try CacheKey("cities/b"), Sample.entry())
    try await engine.put(try CacheKey("cities/aa"), Sample.entry())
    try expectEqual(try await engine.entry(key), nil, at: key)
    let other = try CacheKey("movies/a")
    try expectEqual(try await engine.entry(other), nil, at: other)
  }

  private static func putThenRead(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    try await engine.put(try CacheKey("cities/a"), Sample.entry())
    try await engine.expectHolds([try CacheKey("cities/a"): Sample.entry()])
  }

  private static func overwrite(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    let key = try CacheKey("cities/a")
    for (number, count) in [10, 1_000, 0, 100_000, 1, 5_000].enumerated() {
      let payload = Sample.payload(count: count, repeating: [UInt8(number)])
      let entry = Entry(payload: payload, metadata: Sample.metadata(checksum: UInt64(number)))
      try await engine.put(key, entry)
      try await engine.expectHolds([key: entry])
    }
  }

  private static func remove(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    let keys = try Sample.keys(3)
    try await engine.put(keys.map { ($0, Sample.entry()) })
    try await engine.remove(keys[1])
    try await engine.expectHolds([keys[0]: Sample.entry(), keys[2]: Sample.entry()])
    try await engine.put(keys[1], Sample.entry(2))
    try expectEqual(try await engine.entry(keys[1]), Sample.entry(2), at: keys[1])
  }

  private static func removeAbsent(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    try await engine.remove(try CacheKey("movies/absent"))
    try await engine.expectHolds([:])
    try await engine.put(try CacheKey("cities/a"), Sample.entry())
    try await engine.remove(try CacheKey("cities/absent"))
    try await engine.expectHolds([try CacheKey("cities/a"): Sample.entry()])
  }

  private static func bodyCalls(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    try await engine.put(try CacheKey("cities/a"), Sample.entry())
    for (text, expected) in [("cities/a", 1), ("cities/b", 0), ("movies/a", 0)] {
      let calls = Atomic(0)
      let answer = try await engine.read(try CacheKey(text)) { _, _ throws(CacheError) in
        calls.wrappingAdd(1, ordering: .relaxed).newValue
      }
      try expectEqual(calls.load(ordering: .relaxed), expected, "calls of the closure for \(text)")
      try expectEqual(answer, expected == 0 ? nil : 1, "what the read of \(text) returned")
    }
  }

  private static func bodyError(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    let key = try CacheKey("cities/a")
    try await engine.put(key, Sample.entry())
    let code = CacheError.Code(rawValue: "ofTheCaller")
    for _ in 0..<20 {
      try await expectError(code, "a read whose closure throws") {
        _ = try await engine.read(key) { _, _ throws(CacheError) -> Int in throw CacheError(code, "of the caller") }
      }
    }
    try await engine.put(key, Sample.entry(2))
    try expectEqual(try await engine.entry(key), Sample.entry(2), at: key)
  }

  private static func readOnly(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    let keys = try Sample.keys(20)
    try await engine.put(keys.map { ($0, Sample.entry()) })
    let before = try await engine.count()
    for key in keys { _ = try await engine.entry(key) }
    _ = try await engine.scanAll()
    _ = try await engine.entry(try CacheKey("nothing/there"))
    _ = try await engine.check()
    try expectEqual(try await engine.count(), before, "statistics after reading")
  }
}
