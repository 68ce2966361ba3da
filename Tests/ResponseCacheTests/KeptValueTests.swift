import ResponseCache
import ResponseCacheTesting
import Synchronization
import Testing

/// Values that are at hand because they were read before: the third read of an entry needs the engine no more.
@Suite struct KeptValueTests {
  private static let readsBefore = 3

  let clock = ManualClock(.start)
  let origin = FakeOrigin { (number: Int) in "\(number)" }

  private func cache() async throws -> Cache { try await Cache.inMemory(clock: clock) }

  private func numbers(_ cache: Cache) -> Resource<Int, String> {
    cache.resource("numbers", freshFor: .seconds(100), fetch: origin.fetch)
  }

  @Test func aKeptValueIsReadAsAnyOther() async throws {
    let cache = try await cache()
    try await cache.set("one", for: "number", expiresAfter: .seconds(100), freshFor: .seconds(50))
    for _ in 0...Self.readsBefore { #expect(try await cache.value(String.self, for: "number") == "one") }
    #expect(try await cache.snapshot(String.self, for: "number")?.entry.isStale == false)
    await #expect(throws: CacheError.self) { try await cache.value(Int.self, for: "number") }
    clock.advance(by: .seconds(60))
    #expect(try await cache.value(String.self, for: "number") == nil)
    #expect(try await cache.snapshot(String.self, for: "number")?.entry.isStale == true)
    clock.advance(by: .seconds(60))
    #expect(try await cache.snapshot(String.self, for: "number")?.value == nil)
  }

  @Test func aChangeIsSeenAtOnce() async throws {
    let cache = try await cache()
    for value in ["one", "two"] {
      try await cache.set(value, for: "number")
      for _ in 0...Self.readsBefore { #expect(try await cache.value(String.self, for: "number") == value) }
    }
    try await cache.remove("number")
    #expect(try await cache.value(String.self, for: "number") == nil)
    try await cache.close()
    let error = await #expect(throws: CacheError.self) { try await cache.value(String.self, for: "number") }
    #expect(error?.code == .closed)
  }

  @Test func eachReadCountsOnce() async throws {
    let cache = try await cache()
    try await cache.set("one", for: "number")
    for _ in 0..<10 { _ = try await cache.value(String.self, for: "number") }
    #expect(try await cache.statistics().operations.hits == 10)
    for _ in 0..<10 { _ = try await numbers(cache)(1) }
    #expect(try await cache.statistics().operations.hits == 19)
    #expect(try await cache.statistics().operations.misses == 1)
  }

  @Test func theRulesDecideAboutAKeptAnswer() async throws {
    let numbers = numbers(try await cache())
    for _ in 0...Self.readsBefore { #expect(try await numbers(1) == "1") }
    #expect(origin.queries == [1])
    #expect(try await numbers(1, policy: .networkOnly) == "1")
    for _ in 0...Self.readsBefore { _ = try await numbers(1, policy: .cachedThenNetwork) }
    #expect(origin.queries.count == 2)
    clock.advance(by: .seconds(50))
    #expect(try await numbers(1, maxAge: .seconds(60)) == "1")
    #expect(origin.queries.count == 2)
    #expect(try await numbers(1, maxAge: .seconds(40)) == "1")
    #expect(origin.queries.count == 3)
    for _ in 0...Self.readsBefore { _ = try await numbers(1) }
    clock.advance(by: .seconds(100))
    #expect(try await numbers(1, policy: .cacheOnly) == "1")
    #expect(origin.queries.count == 3)
    #expect(try await numbers(1) == "1")
    #expect(origin.queries.count == 4)
  }

  @Test func aCancelledTaskGetsNoKeptAnswer() async throws {
    let numbers = numbers(try await cache())
    for _ in 0...Self.readsBefore { _ = try await numbers(1) }
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await numbers(1)
    }
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test @MainActor func aKeptValueDoesNotLeaveTheCallersActor() async throws {
    let cache = try await cache()
    let numbers = numbers(cache)
    try await cache.set("one", for: "number")
    for _ in 0..<Self.readsBefore {
      _ = try await cache.value(String.self, for: "number")
      _ = try await numbers(1)
    }
    let hasLeft = Mutex(false)
    // Runs as soon as this function leaves the actor.
    let other = Task { @MainActor in hasLeft.withLock { $0 = true } }
    #expect(try await cache.value(String.self, for: "number") == "one")
    #expect(try await numbers(1) == "1")
    #expect(hasLeft.withLock { $0 } == false)
    await other.value
  }
}
