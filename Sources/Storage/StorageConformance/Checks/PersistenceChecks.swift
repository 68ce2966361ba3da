internal import EngineSupport
internal import StorageSPI

/// What was stored is still there when the store is reopened.
enum PersistenceChecks {
  static let all = [
    check("reopen-keeps-all", "everything is as it was after closing and opening", reopen),
    check("reopen-after-every-batch", "a store that is opened again after every batch loses nothing", everyBatch),
    check("reopen-empty", "an empty store can be opened again", empty),
    check("reopen-keeps-removals", "what was removed or compacted away stays away", removals),
    check(
      "reopen-namespaces", "namespaces are kept apart though some are read first while others are created", namespaces),
    check(
      "moving-aside", "a store that is moved aside leaves an empty one, and can be opened where it is", movingAside),
    check("durability-modes", "the store opens and keeps its entries in each mode of durability", durability),
  ]

  private static func check(
    _ name: String, _ summary: String, _ body: @escaping @Sendable (ConformanceContext) async throws -> Void
  ) -> ConformanceCheck {
    ConformanceCheck(name, summary, requires: [.persistent], body)
  }

  private static func reopen(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    var entries: [CacheKey: Entry] = [:]
    for (number, key) in try ScanChecks.keys().enumerated() { entries[key] = Sample.entry(number) }
    try await engine.put(entries.map { ($0.key, $0.value) })
    try await context.reopen(engine).expectHolds(entries)
  }

  private static func everyBatch(_ context: ConformanceContext) async throws {
    var engine = try await context.open()
    var generator = context.generator()
    var entries: [CacheKey: Entry] = [:]
    let pool = try ScanChecks.keys()
    for number in 1...(20 * context.rounds) {
      var batch = WriteBatch()
      for key in pool.shuffled(using: &generator).prefix(3) {
        entries[key] = generator.happens(70) ? Sample.entry(number) : nil
        if let entry = entries[key] { batch.put(key, entry) } else { batch.remove(key) }
      }
      try await engine.apply(batch)
      engine = try await context.reopen(engine)
      try await engine.expectHolds(entries)
    }
  }

  private static func empty(_ context: ConformanceContext) async throws {
    var engine = try await context.open()
    for _ in 0..<3 {
      engine = try await context.reopen(engine)
      try await engine.expectHolds([:])
    }
  }

  private static func removals(_ context: ConformanceContext) async throws {
    var engine = try await context.open()
    let keys = try Sample.keys(3)
    let short = Sample.entry(1, retainedFor: .seconds(1))
    try await engine.put([(keys[0], Sample.entry()), (keys[1], Sample.entry()), (keys[2], short)])
    try await engine.remove(keys[0])
    engine = try await context.reopen(engine)
    try await engine.expectHolds([keys[1]: Sample.entry(), keys[2]: short])
    context.clock.advance(by: .seconds(1))
    try await engine.compact()
    engine = try await context.reopen(engine)
    try await engine.expectHolds([keys[1]: Sample.entry()])
  }

  private static func namespaces(_ context: ConformanceContext) async throws {
    var entries: [CacheKey: Entry] = [:]
    var engine = try await context.open()
    for number in 0..<60 { entries[try CacheKey("old\(number)x/a")] = Sample.entry(number) }
    for (key, entry) in entries { try await engine.put(key, entry) }
    // Writes do not wait for the disk, so that many calls overlap.
    let relaxed = OptionValue.text(Durability.relaxed.rawValue)
    for attempt in 0..<5 {
      try await engine.close()
      engine = try await context.open(overrides: [EngineOption.durability.name: relaxed])
      var new: [CacheKey: Entry] = [:]
      for number in 0..<12 { new[try CacheKey("new\(attempt)x\(number)/a")] = Sample.entry(number) }
      try await expectReads(of: entries, in: engine, whilePutting: new)
      entries.merge(new) { $1 }
    }
    try await context.reopen(engine).expectHolds(entries)
  }

  private static func expectReads(
    of entries: [CacheKey: Entry], in engine: any StorageEngine, whilePutting new: [CacheKey: Entry]
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { for (key, entry) in new { try await engine.put(key, entry) } }
      group.addTask {
        for (key, entry) in entries { try expectEqual(try await engine.entry(key), entry, at: key) }
      }
      try await group.waitForAll()
    }
  }

  private static func durability(_ context: ConformanceContext) async throws {
    var entries: [CacheKey: Entry] = [:]
    for mode in Durability.allCases {
      let overrides = [EngineOption.durability.name: OptionValue.text(mode.rawValue)]
      var engine = try await context.open(overrides: overrides)
      try await engine.expectHolds(entries)
      for (number, key) in try Sample.keys(5, namespace: mode.rawValue).enumerated() {
        entries[key] = Sample.entry(number)
        try await engine.put(key, Sample.entry(number))
      }
      try await engine.close()
      engine = try await context.open(overrides: overrides)
      try await engine.expectHolds(entries)
      try await engine.close()
    }
  }

  private static func movingAside(_ context: ConformanceContext) async throws {
    let path = context.subject.plugin.declaration.options.first { $0.kind == .path }?.name
    guard let path else { return }
    var moved: [(path: String, entries: [CacheKey: Entry])] = []
    for number in 1...2 {
      let engine = try await context.open()
      try await engine.expectHolds([:])
      var entries: [CacheKey: Entry] = [:]
      for key in try Sample.keys(number) + Sample.keys(number, namespace: "movies") {
        entries[key] = Sample.entry(number)
      }
      try await engine.put(entries.map { ($0.key, $0.value) })
      try await engine.close()
      guard let place = try await context.moveAside() else { return }
      try expect(!moved.contains { $0.path == place }, "two stores were moved to \(place)")
      moved.append((place, entries))
    }
    for (place, entries) in moved {
      let engine = try await context.open(overrides: [path: .text(place)])
      try await engine.expectHolds(entries)
      try await engine.close()
    }
    try await context.open().expectHolds([:])
  }
}

extension ConformanceContext {
  /// Moves the check's store aside, and returns where it is now; `nil` if the engine cannot move it.
  fileprivate func moveAside() async throws -> String? {
    let configuration = try subject.configuration(store: "\(check)/store", run: run, clock: clock)
    do throws(CacheError) {
      let moved = try await subject.plugin.removeStore(configuration, movingAside: ".damaged-1")
      guard let place = moved.first else { throw CacheError(.failed, "the engine does not say where the store is") }
      return place
    } catch {
      guard error.code == .unsupported else { throw error }
      return nil
    }
  }
}
