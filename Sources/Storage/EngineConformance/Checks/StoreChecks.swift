internal import CacheBase
internal import EngineAPI

/// A closed engine reports that it is closed, and nothing else.
enum ClosingChecks {
  static let all = [
    ConformanceCheck(
      "closed-calls-fail", "after closing, another close does nothing, and any other call fails with closed"
    ) { context in
      let engine = try await context.open()
      let key = try CacheKey("cities/a")
      try await engine.put(key, entry: Sample.entry())
      _ = try await engine.entry(key)
      for _ in 0..<3 { try await engine.close() }
      try await expectClosed(engine, key, context)
    },
    ConformanceCheck(
      "close-during-calls", "calls under way when an engine is closed succeed, or fail with closed", during),
    ConformanceCheck("shared-closing-one", "one handle is closed and another still works", requires: [.shared]) {
      context in
      let (first, second) = (try await context.open(), try await context.open())
      let key = try CacheKey("cities/a")
      try await first.put(key, entry: Sample.entry(1))
      try await first.close()
      try await context.expectHolds(second, [key: Sample.entry(1)])
      try await second.put(key, entry: Sample.entry(2))
      try await expectClosed(first, key, context)
      for engine in [try await context.open(), second] { try await context.expectHolds(engine, [key: Sample.entry(2)]) }
    },
  ]

  /// Throws a failure unless every call fails with `closed`.
  private static func expectClosed(
    _ engine: any StorageEngine, _ key: CacheKey, _ context: ConformanceContext
  ) async throws {
    let name = Array(key.text.utf8)
    let calls: [(String, () async throws -> Void)] = [
      ("read", { _ = try await engine.entry(key) }),
      ("read of nothing", { _ = try await engine.entry(try CacheKey("absent/a")) }),
      (
        "readNow",
        { if try engine.readNow(name.span, { _, _ in }) == nil { throw CacheError(.closed, "the engine declines") } }
      ),
      ("apply", { try await engine.put(key, entry: Sample.entry()) }),
      ("apply of an empty batch", { try await engine.apply(WriteBatch()) }),
      ("scan", { _ = try await engine.scan(ScanRequest()) }),
      ("count", { _ = try await engine.count() }), ("check", { _ = try await engine.check() }),
      ("compact", { try await engine.compact() }),
    ]
    for (name, call) in calls { try await expectError(.closed, "\(name) after close", call) }
    guard context.has(.countsChanges) else { return }
    try await expectError(.closed, "changeCount after close") { _ = try engine.changeCount() }
  }

  private static func during(_ context: ConformanceContext) async throws {
    for round in 0..<5 {
      let engine = try await context.open(store: "round-\(round)")
      let keys = try Sample.keys(20)
      try await engine.put(keys.map { ($0, Sample.entry()) })
      try await ConcurrencyChecks.concurrently(keys + keys + [nil]) { (key: CacheKey?) in
        guard let key else { return try await engine.close() }
        do {
          try expectEqual(try await engine.entry(key), Sample.entry(), at: key)
          try await engine.put(key, entry: Sample.entry())
        } catch let error as CacheError where error.code == .closed {}
      }
      try await expectClosed(engine, keys[0], context)
    }
  }
}

/// Stores are separate, take up space, and can be moved.
enum StoreChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck("storage-bytes", "a store takes up space, and less once it is emptied and compacted") { context in
      let engine = try await context.open()
      var generator = context.generator()
      let entry = Entry(payload: generator.bytes(65_536), metadata: Sample.metadata())
      let keys = try Sample.keys(64)
      try await engine.put(keys.map { ($0, entry) })
      let before = try await engine.count().storageBytes
      try expect(before >= entry.payload.count, "a store of 4 MiB claims to take up \(before) bytes")
      try await engine.apply(WriteBatch(keys.map { .remove($0) }))
      try await engine.compact()
      try await context.expectHolds(engine, [:])
      let after = try await engine.count().storageBytes
      try expect(
        after >= 0 && (after < before / 2 || !context.has(.persistent)),
        "the store took up \(before) bytes, and emptied and compacted still \(after)")
    },
    ConformanceCheck(
      "shared-separate-stores", "handles on different stores see nothing of each other", requires: [.shared]
    ) { context in
      let (first, second) = (try await context.open(store: "first"), try await context.open(store: "second"))
      let key = try CacheKey("cities/a")
      try await first.put(key, entry: Sample.entry(1))
      try await context.expectHolds(second, [:])
      try await second.put(key, entry: Sample.entry(2))
      try await context.expectHolds(first, [key: Sample.entry(1)])
    },
    ConformanceCheck(
      "moving-aside", "a store that is moved aside leaves an empty one, and can be opened at its new path",
      requires: [.persistent], movingAside),
    ConformanceCheck(
      "durability-modes", "the store opens and keeps its entries in each mode of durability", requires: [.persistent],
      durability),
  ]

  private static func durability(_ context: ConformanceContext) async throws {
    var entries: [CacheKey: Entry] = [:]
    for mode in Durability.allCases {
      let overrides = [EngineOption.durability.name: OptionValue.text(mode.rawValue)]
      var engine = try await context.open(overrides: overrides)
      try await context.expectHolds(engine, entries)
      for (number, key) in try Sample.keys(5, namespace: mode.rawValue).enumerated() {
        entries[key] = Sample.entry(number)
        try await engine.put(key, entry: Sample.entry(number))
      }
      try await engine.close()
      engine = try await context.open(overrides: overrides)
      try await context.expectHolds(engine, entries)
      try await engine.close()
    }
  }

  private static func movingAside(_ context: ConformanceContext) async throws {
    let path = context.subject.plugin.declaration.options.first { $0.kind == .path }?.name
    guard let path else { return }
    var moved: [(path: String, entries: [CacheKey: Entry])] = []
    for number in 1...2 {
      let engine = try await context.open()
      try await context.expectHolds(engine, [:])
      let keys = try Sample.keys(number) + Sample.keys(number, namespace: "movies")
      try await engine.put(keys.map { ($0, Sample.entry(number)) })
      try await engine.close()
      let configuration = try context.subject.configuration(
        store: "\(context.check)/store", run: context.run, clock: context.clock)
      do throws(CacheError) {
        let files = try await context.subject.plugin.removeStore(configuration, movingAside: ".damaged-1")
        guard let place = files.first else { throw CacheError(.failed, "the engine does not say where the store is") }
        moved.append((place, Dictionary(uniqueKeysWithValues: keys.map { ($0, Sample.entry(number)) })))
      } catch {
        guard error.code == .unsupported else { throw error }
        return
      }
    }
    try expectEqual(Set(moved.map(\.path)).count, 2, "the number of places of two stores that were moved")
    for (place, entries) in moved {
      let engine = try await context.open(overrides: [path: .text(place)])
      try await context.expectHolds(engine, entries)
      try await engine.close()
    }
    try await context.expectHolds(context.open(), [:])
  }
}
