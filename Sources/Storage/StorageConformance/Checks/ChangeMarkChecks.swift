internal import StorageSPI

/// An engine that follows others' changes learns of each. An engine that does not follow them claims nothing, and passes.
enum ChangeMarkChecks {
  static let all = [
    ConformanceCheck("change-mark-stays", "a change mark stays the same while nothing changes", stays),
    ConformanceCheck(
      "shared-change-mark", "a change mark is another one after another handle has changed the entry",
      requires: [.shared], shared),
  ]

  /// How long an engine may take to connect, and to make sure that it has missed nothing.
  private static let patience = Duration.seconds(30)

  private static func stays(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    guard let follower = engine.changeFollower else { return }
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
    guard let follower = engine.changeFollower else { return }
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
  private static func mark(of key: CacheKey, _ follower: any ChangeFollowing) async throws -> ChangeMark {
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
    than before: ChangeMark, _ key: CacheKey, _ follower: any ChangeFollowing, after change: String
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
