import ResponseCache
import ResponseCacheTesting
import Testing

/// Closures that fetch from the cache whose fetch they are.
@Suite(.timeLimit(.minutes(30))) struct OwnFetchTests {
  private let gate = FakeOrigin { (name: String) in name }

  /// The resource `name`, whose closure passes the gate and then fetches the resources that `needs` names for it.
  private func resource(
    _ name: String, in cache: Cache, needs: [String: [String]]
  ) -> Resource<Int, [String]> {
    cache.resource(name) { [gate] number in
      _ = try await gate.fetch(name)
      return try await withThrowingTaskGroup(of: [String].self) { group in
        for other in needs[name] ?? [] {
          group.addTask { try await resource(other, in: cache, needs: needs)(number) }
        }
        return try await group.reduce(into: [name]) { $0 += $1 }.sorted()
      }
    }
  }

  @Test(arguments: [
    ["a": ["a"]], ["a": ["b"], "b": ["a"]], ["a": ["b"], "b": ["c"], "c": ["a"]], ["a": ["b"], "b": ["b"]],
  ])
  func aFetchThatNeedsItsOwnAnswerIsAnError(needs: [String: [String]]) async throws {
    let a = resource("a", in: try await Cache.inMemory(), needs: needs)
    let error = await #expect(throws: CacheError.self) { try await a(1) }
    #expect(error?.code == .invalidRequest)
    #expect(error?.hint.isEmpty == false)
  }

  @Test func twoFetchesThatNeedEachOtherAreAnError() async throws {
    let cache = try await Cache.inMemory()
    let needs = ["a": ["b"], "b": ["a"]]
    gate.hold()
    let tasks = ["a", "b"].map { name in Task { try await resource(name, in: cache, needs: needs)(1) } }
    await gate.arrival(of: 2)
    gate.release()
    for task in tasks { await #expect(throws: CacheError.self) { try await task.value } }
  }

  @Test func fetchesThatNeedTheSameAnswerShareIt() async throws {
    let cache = try await Cache.inMemory()
    let a = resource("a", in: cache, needs: ["a": ["b", "c"], "b": ["d"], "c": ["d", "b"]])
    #expect(try await a(1) == ["a", "b", "b", "c", "d", "d", "d"])
    #expect(gate.queries.sorted() == ["a", "b", "c", "d"])
  }

  @Test func aCacheBehindTheCacheMayHaveTheSameNames() async throws {
    let (near, far) = (try await Cache.inMemory(), try await Cache.inMemory())
    let source = far.resource("texts") { (number: Int) in "\(number)" }
    let texts = near.resource("texts") { (number: Int) in try await source(number) }
    #expect(try await texts(1) == "1")
  }

  /// A revalidation in the background belongs to no fetch that began it.
  @Test func aRevalidationMayNeedTheFetchThatBeganIt() async throws {
    let clock = ManualClock()
    let cache = try await Cache.inMemory(clock: clock)
    let outer = FakeOrigin { (_: Int) in "outer" }
    let needed = cache.resource("needed", freshFor: .seconds(1_000), fetch: outer.fetch)
    let inner = cache.resource("inner", freshFor: .seconds(10), staleWhileRevalidate: .seconds(100)) { (number: Int) in
      try await needed(number)
    }
    _ = try await inner(1)
    try await needed.remove(1)
    clock.advance(by: .seconds(20))
    let beginning = cache.resource("needed", freshFor: .seconds(1_000)) { (number: Int) in
      // Serves the stale value, and revalidates it by fetching what is being fetched here.
      "\(try await inner(number)) again"
    }
    #expect(try await beginning(1) == "outer again")
    while try await inner.snapshots(for: 1).explanation().decision.action != .serve {
      try Task.checkCancellation()
      await Task.yield()
    }
    #expect(try await inner(1, policy: .cacheOnly) == "outer again")
  }
}
