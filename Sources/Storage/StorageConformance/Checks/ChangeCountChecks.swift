internal import EngineSupport
internal import StorageSPI

/// An engine that counts changes counts them all.
enum ChangeCountChecks {
  static let all = [
    ConformanceCheck("change-count-advances", "a change count is another one after each change", advances),
    ConformanceCheck("change-count-stays", "a change count stays the same where nothing changes", stays),
    ConformanceCheck("change-count-late", "a change is not counted before it can be read", isNotEarly),
    ConformanceCheck("change-count-closed", "a change count cannot be asked for after closing", closed),
    ConformanceCheck(
      "shared-change-count", "a change count also counts the changes of another handle", requires: [.shared], shared),
  ].map { $0.requiring(.countsChanges) }

  private static func advances(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    let counter = engine
    var seen = SeenCounts(counter)
    let key = try CacheKey("cities/a")
    try await seen.expectNew("opening")
    for version in 1...3 {
      try await engine.put(key, Sample.entry(version))
      try await seen.expectNew("storing an entry")
    }
    try await engine.put(try Sample.keys(20).map { ($0, Sample.entry(1, retainedFor: .seconds(1))) })
    try await seen.expectNew("storing 20 entries")
    try await engine.remove(key)
    try await seen.expectNew("removing an entry")
    try await engine.put(key, Sample.entry(1))
    try await seen.expectNew("storing an entry again")
    context.clock.advance(by: .seconds(1))
    try await engine.compact()
    if try await engine.scanAll().count < 21 { try await seen.expectNew("removing expired entries") }
    try seen.expectSome()
  }

  private static func stays(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    let counter = engine
    let key = try CacheKey("cities/a")
    try await engine.put(key, Sample.entry(1))
    // Some engines know the count only after the first read.
    try expectEqual(try await engine.entry(key), Sample.entry(1), at: key)
    let before = try counter.changeCount()
    for _ in 0..<20 {
      try await engine.expectHolds([key: Sample.entry(1)])
      try expectEqual(try await engine.entry(try CacheKey("absent/a")), nil, at: key)
      try expect(try await engine.check().isEmpty, "a sound store is not")
      try expectEqual(try counter.changeCount(), before, "the change count after reading")
    }
  }

  /// Reads while another task writes. With the count that a commit left, a read returns that commit's value or a later
  /// one: otherwise a reader would keep the old value for good.
  private static func isNotEarly(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    let counter = engine
    let (key, versions) = (try CacheKey("cities/a"), 60 * context.rounds)
    try await engine.put(key, Sample.entry(0))
    let (left, observed) = try await withThrowingTaskGroup(of: Observations.self) { group in
      group.addTask { .observed(try await observe(engine, counter, key, until: UInt64(versions))) }
      group.addTask { .left(try await write(engine, counter, key, versions: versions)) }
      var (left, observed) = ([UInt64: UInt64](), [(count: UInt64, version: UInt64)]())
      for try await result in group {
        switch result {
        case .left(let counts): left = counts
        case .observed(let pairs): observed = pairs
        }
      }
      return (left, observed)
    }
    for (count, version) in observed {
      guard let committed = left[count] else { continue }
      try expect(
        version >= committed, "version \(version) was read when the change count was that of version \(committed)")
    }
  }

  private enum Observations: Sendable {
    /// The versions, by the counts that their commits left.
    case left([UInt64: UInt64])
    /// The versions read, each with the count before the read.
    case observed([(count: UInt64, version: UInt64)])
  }

  private static func write(
    _ engine: any StorageEngine, _ counter: any StorageEngine, _ key: CacheKey, versions: Int
  ) async throws -> [UInt64: UInt64] {
    var left: [UInt64: UInt64] = [:]
    for version in 1...versions {
      try await engine.put(key, Sample.entry(version))
      if let count = try counter.changeCount() { left[count] = UInt64(version) }
      await Task.yield()
    }
    return left
  }

  private static func observe(
    _ engine: any StorageEngine, _ counter: any StorageEngine, _ key: CacheKey, until last: UInt64
  ) async throws -> [(count: UInt64, version: UInt64)] {
    var observed: [(count: UInt64, version: UInt64)] = []
    var version: UInt64 = 0
    while version < last {
      let count = try counter.changeCount()
      version = try await engine.entry(key)?.metadata.checksum ?? 0
      if let count { observed.append((count, version)) }
      await Task.yield()
      if Task.isCancelled { break }
    }
    return observed
  }

  private static func closed(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    let counter = engine
    try await engine.put(try CacheKey("cities/a"), Sample.entry())
    _ = try counter.changeCount()
    try await engine.close()
    try await expectError(.closed, "changeCount after close") { _ = try counter.changeCount() }
  }

  private static func shared(_ context: ConformanceContext) async throws {
    let (first, second) = (try await context.open(), try await context.open())
    let counter = second
    var seen = SeenCounts(counter)
    let key = try CacheKey("cities/a")
    try await seen.expectNew("opening")
    for version in 1...5 {
      try await first.put(key, Sample.entry(version))
      try await seen.expectNew("another handle stored an entry")
      try expectEqual(try await second.entry(key), Sample.entry(version), at: key)
      try await second.put(key, Sample.entry(version + 10))
      try await seen.expectNew("storing an entry")
    }
    try await first.remove(key)
    try await seen.expectNew("another handle removed an entry")
    try seen.expectSome()
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
    try expect(!counts.isEmpty, "the engine counts changes, and could tell their number not once")
  }
}

/// An engine that follows others' changes learns of each.
enum ChangeMarkChecks {
  static let all = [
    ConformanceCheck("change-mark-stays", "a change mark stays the same while nothing changes", stays),
    ConformanceCheck(
      "shared-change-mark", "a change mark is another one after another handle has changed the entry",
      requires: [.shared], shared),
  ].map { $0.requiring(.followsChanges) }

  /// How long an engine may take to connect, and to make sure that it has missed nothing.
  private static let patience = Duration.seconds(30)

  private static func stays(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    let follower = engine
    let key = try CacheKey("cities/a")
    try await engine.put(key, Sample.entry(1))
    _ = try await mark(of: key, follower)
    // It may follow anew now and then.
    let isSame = (0..<100).contains { _ in
      follower.changeMark(of: key)?.number == follower.changeMark(of: key)?.number
    }
    try expect(isSame, "each mark is another one, although nothing changes")
  }

  private static func shared(_ context: ConformanceContext) async throws {
    let (engine, other) = (try await context.open(), try await context.open())
    let follower = engine
    let key = try CacheKey("cities/a")
    for version in 1...2 {
      let before = try await mark(of: key, follower)
      try await other.put(key, Sample.entry(version))
      try await expectOther(than: before, key, follower, after: "storing an entry")
    }
    let before = try await mark(of: key, follower)
    try await other.remove(key)
    try await expectOther(than: before, key, follower, after: "removing an entry")
  }

  /// The mark of `key` as soon as the engine has one.
  private static func mark(of key: CacheKey, _ follower: any StorageEngine) async throws -> ChangeMark {
    let start = ContinuousClock.now
    while start.duration(to: .now) < patience {
      if let mark = follower.changeMark(of: key) { return mark }
      try await Task.sleep(for: .milliseconds(5))
    }
    throw ConformanceFailure("the engine follows changes, and has had no mark for \(patience)")
  }

  /// Waits until the mark of `key` is another one than `before`, or none. By the time that the engine says it has missed
  /// no change until now, it must be.
  private static func expectOther(
    than before: ChangeMark, _ key: CacheKey, _ follower: any StorageEngine, after change: String
  ) async throws {
    let start = ContinuousClock.now
    while true {
      let elapsed = start.duration(to: .now)
      guard let mark = follower.changeMark(of: key), mark.number == before.number else { return }
      try expect(mark.age >= elapsed, "after \(change) the mark is the same, and is said to be up to date")
      try expect(elapsed < patience, "after \(change) the engine has not made sure of anything for \(patience)")
      try await Task.sleep(for: .milliseconds(5))
    }
  }
}
