internal import EngineSupport
internal import StorageSPI

/// A batch succeeds if its requirement holds, and fails if not.
enum RequirementChecks {
  static let all = [
    ConformanceCheck("require-met", "a batch whose requirements hold is applied", met),
    ConformanceCheck("require-absent-unmet", "requiring absence of an entry that is there is a conflict", absentUnmet),
    ConformanceCheck(
      "require-checksum-unmet", "requiring another checksum is a conflict, by one bit too", checksumUnmet),
    ConformanceCheck("require-checksum-of-absent", "requiring a checksum of no entry is a conflict", checksumOfAbsent),
    ConformanceCheck("require-sees-own-batch", "a requirement sees the earlier operations of its batch", ownBatch),
    ConformanceCheck("require-alone", "a batch of requirements alone is judged and changes nothing", alone),
  ]

  private static func keys() throws -> [CacheKey] { [try CacheKey("cities/a"), try Sample.key(length: 700)] }

  private static func batch(requiring expectation: WriteBatch.Expectation, of key: CacheKey, put number: Int)
    -> WriteBatch
  {
    var batch = WriteBatch()
    batch.require(key, expectation)
    batch.put(key, Sample.entry(number))
    return batch
  }

  private static func met(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    for key in try keys() {
      try await engine.apply(batch(requiring: .absent, of: key, put: 1))
      try await engine.apply(batch(requiring: .checksum(1), of: key, put: 2))
      try expectEqual(try await engine.entry(key), Sample.entry(2), at: key)
      try await engine.remove(key)
      try await engine.apply(batch(requiring: .absent, of: key, put: 3))
      try expectEqual(try await engine.entry(key), Sample.entry(3), at: key)
    }
  }

  private static func absentUnmet(_ context: ConformanceContext) async throws {
    try await expectConflict(context, .absent, checksum: 1, store: "absent-1")
    try await expectConflict(context, .absent, checksum: 0, store: "absent-0")
  }

  private static func checksumUnmet(_ context: ConformanceContext) async throws {
    let pairs: [(UInt64, UInt64)] = [(1, 2), (0, 1 << 63), (.max, .max - 1), (1 << 32, 0), (0, 1 << 32)]
    for (checksum, required) in pairs {
      try await expectConflict(
        context, .checksum(required), checksum: checksum, store: "checksum-\(checksum)-\(required)")
    }
  }

  private static func expectConflict(
    _ context: ConformanceContext, _ expectation: WriteBatch.Expectation, checksum: UInt64, store: String
  ) async throws {
    let engine = try await context.open(store: store)
    for key in try keys() {
      let entry = Entry(payload: [1], metadata: Sample.metadata(checksum: checksum))
      try await engine.put(key, entry)
      try await expectError(.conflict, "\(key.abbreviated): requiring \(expectation) of an entry with \(checksum)") {
        try await engine.apply(batch(requiring: expectation, of: key, put: 7))
      }
      try expectEqual(try await engine.entry(key), entry, at: key)
    }
  }

  private static func checksumOfAbsent(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    for key in try keys() {
      for checksum: UInt64 in [0, 1] {
        try await expectError(.conflict, "\(key.abbreviated): requiring checksum \(checksum) of no entry") {
          try await engine.apply(batch(requiring: .checksum(checksum), of: key, put: 7))
        }
      }
    }
    try await engine.expectHolds([:])
  }

  private static func ownBatch(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    for key in try keys() {
      var batch = WriteBatch()
      batch.require(key, .absent)
      batch.put(key, Sample.entry(1))
      batch.require(key, .checksum(1))
      batch.put(key, Sample.entry(2))
      batch.require(key, .checksum(2))
      batch.remove(key)
      batch.require(key, .absent)
      batch.put(key, Sample.entry(3))
      try await engine.apply(batch)
      try expectEqual(try await engine.entry(key), Sample.entry(3), at: key)
      try await expectOutdatedConflicts(engine, key)
    }
  }

  /// Requires a condition that held before the batch, but not after its first operation.
  private static func expectOutdatedConflicts(_ engine: any StorageEngine, _ key: CacheKey) async throws {
    var replaced = WriteBatch()
    replaced.put(key, Sample.entry(4))
    replaced.require(key, .checksum(3))
    var removed = WriteBatch()
    removed.remove(key)
    removed.require(key, .checksum(3))
    for batch in [replaced, removed] {
      try await expectError(.conflict, "\(key.abbreviated): requiring what the same batch has changed") {
        try await engine.apply(batch)
      }
      try expectEqual(try await engine.entry(key), Sample.entry(3), at: key)
    }
  }

  private static func alone(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    let key = try CacheKey("cities/a")
    var batch = WriteBatch()
    batch.require(key, .absent)
    try await engine.apply(batch)
    try await engine.expectHolds([:])
    try await engine.put(key, Sample.entry())
    try await expectError(.conflict, "requiring alone") { try await engine.apply(batch) }
    try await engine.expectHolds([key: Sample.entry()])
  }
}
