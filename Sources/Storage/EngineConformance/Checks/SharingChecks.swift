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
      try await expectClosed(engine, key)
    },
    ConformanceCheck(
      "close-during-calls", "calls under way when an engine is closed succeed, or fail with closed", during),
    ConformanceCheck("open-and-close-often", "an engine can be opened and closed any number of times") { context in
      let key = try CacheKey("cities/a")
      for number in 1...(25 * context.rounds) {
        let engine = try await context.open()
        try await engine.put(key, entry: Sample.entry(number))
        try expectEqual(try await engine.entry(key), Sample.entry(number), at: key)
        try await engine.close()
      }
    },
  ]

  /// Throws a failure unless every call fails with `closed`.
  static func expectClosed(_ engine: any StorageEngine, _ key: CacheKey) async throws {
    let absent = try CacheKey("absent/a")
    let name = Array(key.text.utf8)
    try await expectError(.closed, "read after close") { _ = try await engine.entry(key) }
    try await expectError(.closed, "read of nothing after close") { _ = try await engine.entry(absent) }
    try await expectError(.closed, "readNow after close") {
      if try engine.readNow(name.span, { _, _ in }) == nil { throw CacheError(.closed, "the engine declines") }
    }
    try await expectError(.closed, "apply after close") { try await engine.put(key, entry: Sample.entry()) }
    try await expectError(.closed, "apply of an empty batch after close") { try await engine.apply(WriteBatch()) }
    try await expectError(.closed, "scan after close") { _ = try await engine.scan(ScanRequest()) }
    try await expectError(.closed, "count after close") { _ = try await engine.count() }
    try await expectError(.closed, "check after close") { _ = try await engine.check() }
    try await expectError(.closed, "compact after close") { try await engine.compact() }
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
      try await expectClosed(engine, keys[0])
    }
  }
}

/// A reopened store holds everything that was stored.
enum PersistenceChecks {
  static let all: [ConformanceCheck] = [
    .script(
      "reopen", "a store that is opened again, also when empty or after every batch, loses nothing",
      requires: [.persistent],
      [
        .reopen, .reopen, .apply(Sample.mixedKeys.enumerated().map { .put($1, $0) }), .reopen,
        each(1...20) { number in
          [
            apply(
              .put(mixed(number), number),
              number % 3 == 0 ? .remove(mixed(number * 2)) : .put(mixed(number * 2), number),
              .update(mixed(number * 3), number)), .reopen,
          ]
        }, apply(.put("cities/c", seconds: 1), .remove("movies/a")), .reopen, advance(1), .compact, .reopen,
      ]),
    ConformanceCheck(
      "reopen-namespaces", "namespaces are kept apart though some are read first while others are created",
      requires: [.persistent], namespaces),
    ConformanceCheck(
      "moving-aside", "a store that is moved aside leaves an empty one, and can be opened where it is",
      requires: [.persistent], movingAside),
    ConformanceCheck(
      "durability-modes", "the store opens and keeps its entries in each mode of durability", requires: [.persistent],
      durability),
  ]

  private static func mixed(_ number: Int) -> String { Sample.mixedKeys[number * 7 % Sample.mixedKeys.count] }

  private static func namespaces(_ context: ConformanceContext) async throws {
    var entries: [CacheKey: Entry] = [:]
    var engine = try await context.open()
    for number in 0..<60 { entries[try CacheKey("old\(number)x/a")] = Sample.entry(number) }
    try await engine.put(entries.map { ($0.key, $0.value) })
    // Writes do not wait for the disk, so that many calls overlap.
    let relaxed = OptionValue.text(Durability.relaxed.rawValue)
    for attempt in 0..<5 {
      try await engine.close()
      engine = try await context.open(overrides: [EngineOption.durability.name: relaxed])
      var new: [CacheKey: Entry] = [:]
      for number in 0..<12 { new[try CacheKey("new\(attempt)x\(number)/a")] = Sample.entry(number) }
      let (engine, old, added) = (engine, entries, new)
      try await ConcurrencyChecks.concurrently([false, true]) { isWriter in
        for (key, entry) in isWriter ? added : old {
          if isWriter { try await engine.put(key, entry: entry) }
          try expectEqual(try await engine.entry(key), entry, at: key)
        }
      }
      entries.merge(new) { $1 }
    }
    try await context.expectHolds(context.reopen(engine), entries)
  }

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

/// Handles on one store see each other's commits at once.
enum SharingChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck("shared-closing-one", "one handle is closed and another still works", requires: [.shared]) {
      context in
      let (first, second) = (try await context.open(), try await context.open())
      let key = try CacheKey("cities/a")
      try await first.put(key, entry: Sample.entry(1))
      try await first.close()
      try await context.expectHolds(second, [key: Sample.entry(1)])
      try await second.put(key, entry: Sample.entry(2))
      try await ClosingChecks.expectClosed(first, key)
      for engine in [try await context.open(), second] { try await context.expectHolds(engine, [key: Sample.entry(2)]) }
    },
    ConformanceCheck(
      "shared-separate-stores", "handles on different stores see nothing of each other", requires: [.shared]
    ) {
      context in
      let (first, second) = (try await context.open(store: "first"), try await context.open(store: "second"))
      let key = try CacheKey("cities/a")
      try await first.put(key, entry: Sample.entry(1))
      try await context.expectHolds(second, [:])
      try await second.put(key, entry: Sample.entry(2))
      try await context.expectHolds(first, [key: Sample.entry(1)])
    },
  ]
}
