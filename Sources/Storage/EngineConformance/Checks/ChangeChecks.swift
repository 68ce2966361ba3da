internal import CacheBase
internal import EngineAPI
internal import Synchronization

/// An engine that counts changes counts none too early, and one that follows changes learns of each. That every change is
/// counted is a matter of the random histories.
enum ChangeChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "change-count-late", "a change is not counted before it can be read", requires: [.countsChanges], isNotEarly),
    ConformanceCheck(
      "change-mark-stays", "a change mark stays the same while nothing changes", requires: [.followsChanges]
    ) { context in
      let engine = try await context.open()
      let key = try CacheKey("cities/a")
      try await engine.put(key, entry: Sample.entry(1))
      _ = try await mark(of: key, engine)
      // The engine can begin to follow again now and then.
      let isSame = (0..<100).contains { _ in engine.changeMark(of: key)?.number == engine.changeMark(of: key)?.number }
      try expect(isSame, "each mark is another one, although nothing changes")
    },
    ConformanceCheck(
      "shared-change-mark", "a change mark is another one after another handle has changed the entry",
      requires: [.followsChanges, .shared], marks),
  ]

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

  /// How long an engine can take to connect, and to make sure that it has missed nothing.
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
