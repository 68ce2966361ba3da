import StorageSPI
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
    try pool.withResource(make: make) { outer throws(StorageError) in
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
    let error = #expect(throws: StorageError.self) {
      try pool.withResource(make: { Resource() }) { resource throws(StorageError) in
        failed = resource
        throw StorageError(.failed, "in doubt")
      }
    }
    #expect(error?.code == .failed)
    #expect(failed == nil)
  }

  @Test func theErrorOfMakingIsPassedOn() {
    let pool = ResourcePool<Resource>()
    let error = #expect(throws: StorageError.self) {
      try pool.withResource(make: { () throws(StorageError) in throw StorageError(.noSpace, "none") }) { _ in }
    }
    #expect(error?.code == .noSpace)
  }

  @Test func aClosedPoolKeepsNothing() throws {
    let pool = ResourcePool<Resource>()
    weak var used: Resource?
    try pool.withResource(make: { Resource() }) { resource in
      used = resource
      pool.close()
    }
    #expect(used == nil)
    let error = #expect(throws: StorageError.self) { try pool.withResource(make: { Resource() }) { _ in } }
    #expect(error?.code == .closed)
  }
}
