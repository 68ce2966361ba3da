internal import EngineAPI
internal import Synchronization

/// An engine that counts changes counts them all, and one that follows changes learns of each.
enum ChangeCountChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "change-count-advances", "a change count is another one after each change", requires: [.countsChanges], advances),
    ConformanceCheck(
      "change-count-stays", "a change count stays the same while nothing changes", requires: [.countsChanges], stays),
    ConformanceCheck(
      "change-count-late", "a change is not counted before it can be read", requires: [.countsChanges], isNotEarly),
    ConformanceCheck(
      "change-count-closed", "a change count cannot be asked for after closing", requires: [.countsChanges]
    ) { context in
      let engine = try await context.open()
      try await engine.put(try CacheKey("cities/a"), entry: Sample.entry())
      _ = try engine.changeCount()
      try await engine.close()
      try await expectError(.closed, "changeCount after close") { _ = try engine.changeCount() }
    },
    ConformanceCheck(
      "shared-change-count", "a change count also counts the changes of another handle",
      requires: [.countsChanges, .shared]
    ) { context in
      let (first, second) = (try await context.open(), try await context.open())
      let key = try CacheKey("cities/a")
      var seen = SeenCounts(second)
      try await seen.expectNew("opening")
      for version in 1...5 {
        try await first.put(key, entry: Sample.entry(version))
        try await seen.expectNew("another handle stored an entry")
        try expectEqual(try await second.entry(key), Sample.entry(version), at: key)
        try await second.put(key, entry: Sample.entry(version + 10))
        try await seen.expectNew("storing an entry")
      }
      try await first.remove(key)
      try await seen.expectNew("another handle removed an entry")
      try seen.expectSome()
    },
    ConformanceCheck(
      "change-mark-stays", "a change mark stays the same while nothing changes", requires: [.followsChanges]
    ) { context in
      let engine = try await context.open()
      let key = try CacheKey("cities/a")
      try await engine.put(key, entry: Sample.entry(1))
      _ = try await mark(of: key, engine)
      // The engine may begin to follow again now and then.
      let isSame = (0..<100).contains { _ in engine.changeMark(of: key)?.number == engine.changeMark(of: key)?.number }
      try expect(isSame, "each mark is another one, although nothing changes")
    },
    ConformanceCheck(
      "shared-change-mark", "a change mark is another one after another handle has changed the entry",
      requires: [.followsChanges, .shared], marks),
  ]

  private static func advances(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    var seen = SeenCounts(engine)
    let key = try CacheKey("cities/a")
    try await seen.expectNew("opening")
    for version in 1...3 {
      try await engine.put(key, entry: Sample.entry(version))
      try await seen.expectNew("storing an entry")
    }
    var update = WriteBatch()
    update.update(key, metadata: Sample.metadata(4), from: 3)
    try await engine.apply(update)
    try await seen.expectNew("updating an entry")
    try await engine.put(try Sample.keys(20).map { ($0, Sample.entry(1, seconds: 1)) })
    try await seen.expectNew("storing 20 entries")
    try await engine.remove(key)
    try await seen.expectNew("removing an entry")
    try await engine.put(key, entry: Sample.entry(1))
    try await seen.expectNew("storing an entry again")
    context.clock.advance(by: .seconds(1))
    try await engine.compact()
    try await seen.expectNew("removing expired entries")
    try seen.expectSome()
  }

  private static func stays(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    let key = try CacheKey("cities/a")
    try await engine.put(key, entry: Sample.entry(1))
    // Some engines know the count only after the first read.
    try await context.expectHolds(engine, [key: Sample.entry(1)])
    let before = try engine.changeCount()
    for _ in 0..<20 {
      try await context.expectHolds(engine, [key: Sample.entry(1)])
      _ = try await engine.check()
      try expectEqual(try engine.changeCount(), before, "the change count after reading")
    }
  }

  /// Reads while another task writes. With the count that a commit left, a read returns that commit's value or a later
  /// one: otherwise a reader would keep the old value for good.
  private static func isNotEarly(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    let (key, versions) = (try CacheKey("cities/a"), 60 * context.rounds)
    try await engine.put(key, entry: Sample.entry(0))
    let committed = Mutex<[UInt64: UInt64]>([:])
    let observed = Mutex<[(count: UInt64, version: UInt64)]>([])
    try await ConcurrencyChecks.concurrently([true, false]) { isWriter in
      if isWriter {
        for version in 1...versions {
          try await engine.put(key, entry: Sample.entry(version))
          if let count = try engine.changeCount() { committed.withLock { $0[count] = UInt64(version) } }
          await Task.yield()
        }
        return
      }
      var version: UInt64 = 0
      while version < versions, !Task.isCancelled {
        let count = try engine.changeCount()
        version = try await engine.entry(key)?.metadata.checksum ?? 0
        if let count { observed.withLock { [version] in $0.append((count, version)) } }
        await Task.yield()
      }
    }
    let left = committed.withLock { $0 }
    for (count, version) in observed.withLock({ $0 }) {
      guard let latest = left[count] else { continue }
      try expect(version >= latest, "version \(version) was read with the change count of version \(latest)")
    }
  }

  private static func marks(_ context: ConformanceContext) async throws {
    let (engine, other) = (try await context.open(), try await context.open())
    let key = try CacheKey("cities/a")
    for version in 1...3 {
      let before = try await mark(of: key, engine)
      if version < 3 { try await other.put(key, entry: Sample.entry(version)) } else { try await other.remove(key) }
      let start = ContinuousClock.now
      // By the time that the engine says it has missed no change until now, the mark must be another one, or none.
      while let mark = engine.changeMark(of: key), mark.number == before.number {
        let elapsed = start.duration(to: .now)
        try expect(mark.age >= elapsed, "after a change the mark is the same, and is said to be up to date")
        try expect(elapsed < patience, "after a change the engine has not made sure of anything for \(patience)")
        try await Task.sleep(for: .milliseconds(5))
      }
    }
  }

  /// How long an engine may take to connect, and to make sure that it has missed nothing.
  private static let patience = Duration.seconds(30)

  /// The mark of `key` as soon as the engine has one.
  private static func mark(of key: CacheKey, _ engine: any StorageEngine) async throws -> ChangeMark {
    let start = ContinuousClock.now
    while start.duration(to: .now) < patience {
      if let mark = engine.changeMark(of: key) { return mark }
      try await Task.sleep(for: .milliseconds(5))
    }
    throw ConformanceFailure("the engine follows changes, and has had no mark for \(patience)")
  }
}

/// The counts that an engine has returned: a reader may have kept a value with any of them.
private struct SeenCounts {
  private let engine: any StorageEngine
  private var counts: Set<UInt64> = []

  init(_ engine: any StorageEngine) { self.engine = engine }

  /// Throws a failure if the count after `change` has been returned before. The engine may know the count at once, or
  /// only after a read.
  mutating func expectNew(_ change: String) async throws {
    let early = try engine.changeCount()
    _ = try await engine.entry(try CacheKey("cities/a"))
    let late = try engine.changeCount()
    if let early { try expectEqual(late, early, "the change count after reading") }
    guard let late else { return }
    try expect(counts.insert(late).inserted, "the change count was \(late) before, and is so again after \(change)")
  }

  /// Throws a failure if the engine never knew the count.
  func expectSome() throws {
    try expect(!counts.isEmpty, "the engine declares that it counts changes, and could never tell their number")
  }
}
