internal import EngineSupport
internal import StorageSPI

/// The operations of a batch take effect in order.
enum BatchChecks {
  static let all = [
    ConformanceCheck("batch-empty", "a batch without operations does nothing", empty),
    ConformanceCheck("batch-put-remove", "an entry put and then removed in one batch is absent", putRemove),
    ConformanceCheck("batch-remove-put", "an entry removed and then put in one batch is there", removePut),
    ConformanceCheck("batch-put-twice", "of two entries put under one key in one batch the later counts", putTwice),
    ConformanceCheck("batch-mixed-namespaces", "one batch changes several namespaces, in any order", mixed),
    ConformanceCheck("batch-of-a-thousand", "a batch may have a thousand operations", thousand),
  ]

  private static func empty(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    try await engine.apply(WriteBatch())
    try await engine.expectHolds([:])
    try await engine.put(try CacheKey("cities/a"), Sample.entry())
    try await engine.apply(WriteBatch())
    try await engine.expectHolds([try CacheKey("cities/a"): Sample.entry()])
  }

  private static func putRemove(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    for key in try keys() {
      var batch = WriteBatch()
      batch.put(key, Sample.entry())
      batch.remove(key)
      try await engine.apply(batch)
      try await engine.expectHolds([:])
    }
  }

  private static func removePut(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    var entries: [CacheKey: Entry] = [:]
    for key in try keys() {
      try await engine.put(key, Sample.entry(1))
      var batch = WriteBatch()
      batch.remove(key)
      batch.put(key, Sample.entry(2))
      try await engine.apply(batch)
      entries[key] = Sample.entry(2)
      try await engine.expectHolds(entries)
    }
  }

  private static func putTwice(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    var entries: [CacheKey: Entry] = [:]
    for key in try keys() {
      try await engine.put([(key, Sample.entry(1)), (key, Sample.entry(22)), (key, Sample.entry(333))])
      entries[key] = Sample.entry(333)
      try await engine.expectHolds(entries)
    }
  }

  private static func mixed(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    var entries: [CacheKey: Entry] = [:]
    for (number, namespace) in ["movies", "cities", "posters", "cities", "movies", "a"].enumerated() {
      entries[try CacheKey("\(namespace)/\(number)")] = Sample.entry(number)
    }
    try await engine.put(entries.map { ($0.key, $0.value) })
    try await engine.expectHolds(entries)
    var batch = WriteBatch()
    for key in entries.keys where key.namespace != "posters" { batch.remove(key) }
    try await engine.apply(batch)
    try await engine.expectHolds(entries.filter { $0.key.namespace == "posters" })
  }

  private static func thousand(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    let keys = try Sample.keys(1_000)
    let entries = keys.enumerated().map { (key: $1, entry: Sample.entry($0)) }
    try await engine.put(entries.reversed())
    try await engine.expectHolds(Dictionary(uniqueKeysWithValues: entries.map { ($0.key, $0.entry) }))
    var batch = WriteBatch()
    for key in keys { batch.remove(key) }
    try await engine.apply(batch)
    try await engine.expectHolds([:])
  }

  /// A short key, and one that some engines have to shorten.
  private static func keys() throws -> [CacheKey] { [try CacheKey("cities/a"), try Sample.key(length: 700)] }
}
