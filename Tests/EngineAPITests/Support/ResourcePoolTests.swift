import EngineAPI
import Testing

@Suite struct ResourcePoolTests {
  private final class Resource: Sendable {}

  @Test func idleResourcesAreUsedAgain() throws {
    let pool = ResourcePool<Resource>()
    var made = 0
    func make() -> Resource {
      made += 1
      return Resource()
    }
    let first = try pool.withResource(make: make) { ObjectIdentifier($0) }
    try pool.withResource(make: make) { outer throws(CacheError) in
      let inner = try pool.withResource(make: make) { ObjectIdentifier($0) }
      #expect(ObjectIdentifier(outer) == first)
      #expect(inner != first)
    }
    #expect(made == 2)
    try pool.withResource(make: make) { _ in }
    #expect(made == 2)
  }

  @Test func aResourceInDoubtIsLetGo() throws {
    let pool = ResourcePool<Resource>()
    weak var failed: Resource?
    let error = #expect(throws: CacheError.self) {
      try pool.withResource(make: { Resource() }) { resource throws(CacheError) in
        failed = resource
        throw CacheError(.failed, "in doubt")
      }
    }
    #expect(error?.code == .failed)
    #expect(failed == nil)
  }

  @Test func theErrorOfMakingIsPassedOn() {
    let pool = ResourcePool<Resource>()
    let error = #expect(throws: CacheError.self) {
      try pool.withResource(make: { () throws(CacheError) in throw CacheError(.noSpace, "none") }) { _ in }
    }
    #expect(error?.code == .noSpace)
  }

  @Test func takenBytesBelongToTheCallerUntilTheyAreReturned() throws {
    let pool = ResourcePool<Resource>()
    let first = try pool.take { Resource() }
    let second = try pool.take { Resource() }
    let both = [first, second].map { ObjectIdentifier($0.takeUnretainedValue()) }
    #expect(both[0] != both[1])
    pool.giveBack(first)
    pool.giveBack(second)
    var idle: Set<ObjectIdentifier> = []
    pool.forEachIdle { idle.insert(ObjectIdentifier($0)) }
    #expect(idle == Set(both))
    let error = CacheError(.failed, "nothing is to be made")
    let again = try (0..<2).map { _ in try pool.take { () throws(CacheError) in throw error } }
    #expect(Set(again.map { ObjectIdentifier($0.takeUnretainedValue()) }) == Set(both))
    pool.forEachIdle { _ in Issue.record("none is idle") }
    for resource in again { pool.giveBack(resource) }
  }

  /// `@unchecked Sendable`: the test checks that only one caller uses it at a time.
  private final class Counter: @unchecked Sendable {
    var uses = 0
    var isInUse = false
  }

  @Test func aResourceIsUsedByOneCallerAtATime() async throws {
    let pool = ResourcePool<Counter>()
    let (tasks, rounds) = (4, 3_000)
    await withTaskGroup { group in
      for _ in 0..<tasks {
        group.addTask {
          for _ in 0..<rounds {
            try? pool.withResource(make: { Counter() }) { counter in
              #expect(!counter.isInUse)
              counter.isInUse = true
              counter.uses += 1
              counter.isInUse = false
            }
            pool.forEachIdle { counter in #expect(!counter.isInUse) }
          }
        }
      }
    }
    var (uses, counters) = (0, 0)
    pool.forEachIdle { counter in (uses, counters) = (uses + counter.uses, counters + 1) }
    #expect(uses == tasks * rounds)
    // There can be one more than there were calls at once, if a task changed its thread at the wrong moment.
    #expect((1...2 * tasks).contains(counters))
  }

  @Test func aClosedPoolKeepsNothing() throws {
    let pool = ResourcePool<Resource>()
    weak var used: Resource?
    try pool.withResource(make: { Resource() }) { resource in
      used = resource
      pool.close()
    }
    #expect(used == nil)
    let error = #expect(throws: CacheError.self) { try pool.withResource(make: { Resource() }) { _ in } }
    #expect(error?.code == .closed)
  }
}
