import CLMDB
import Foundation
import Platform
import StorageSPI
import Testing

@testable import LMDBStorage

/// Where addresses, memory or room on the disk run out.
@Suite struct LimitTests {
  /// LMDB gives up its map before it asks for a larger one.
  @Test func aMapThatCannotGrowStaysAsItIs() async throws {
    let store = try TestStore()
    let environment = try store.openEnvironment()
    let engine = LMDBEngine(LMDBEnvironmentUse(environment), durability: .relaxed, clock: FixedClock(now: .zero))
    try await engine.put("cities/a", [1])
    let tooMuch = 1 << 50  // More than any process has addresses for.
    #expect(await code { try environment.growing(for: tooMuch) { () throws(CacheError) in } } == .noSpace)
    #expect(try await engine.payload("cities/a") == [1])
    try await engine.put("cities/b", [2])
    #expect(try await engine.keys() == ["cities/a", "cities/b"])
    try await engine.close()
  }

  /// A wrong start would empty memory of the process.
  @Test func theMapIsFound() async throws {
    let store = try TestStore()
    let environment = try store.openEnvironment()
    let engine = LMDBEngine(LMDBEnvironmentUse(environment), durability: .relaxed, clock: FixedClock(now: .zero))
    for namespace in 0..<60 {  // The summary of so many has pages of its own.
      try await engine.put("n\(namespace)/a")
      let start = try environment.withSnapshot { transaction throws(CacheError) in try transaction.mapStart() }
      let magic = try #require(start).loadUnaligned(fromByteOffset: 16, as: UInt32.self)
      #expect(magic == LMDBFile.magic)
    }
    await engine.releaseMemory()
    #expect(try await engine.payload("n59/a") == [1, 2, 3])
    try await engine.close()
  }

  /// LMDB writes to the file of locks through a map: where the disk had no room for it, that would end the process.
  @Test func theFileOfLocksHasItsSpaceBeforeItIsMapped() async throws {
    let store = try TestStore()
    let engine = try await store.open()
    try await engine.put("cities/a")
    let locks = try #require(LMDBFile.status(LMDBFile.lock(in: store.path)))
    #expect(locks.st_blocks * 512 >= locks.st_size && locks.st_size > 0)
    try await engine.close()
  }

  /// LMDB takes pages for a large value, and leaves them unwritten if the value is removed in the same batch.
  @Test func freePagesBeyondTheEndOfTheFileAreNoDamage() async throws {
    let store = try TestStore()
    let engine = try await store.open(mapSize: 1 << 30)
    try await engine.put("cities/a")
    // Then the batch takes these pages for everything but the large value.
    for number in 0..<20 { try await engine.put("movies/\(number)", [UInt8](repeating: 1, count: 9_000)) }
    for number in 0..<20 { try await engine.remove("movies/\(number)") }
    var batch = WriteBatch()
    batch.put(try CacheKey("cities/b"), payload: [UInt8](repeating: 1, count: 1 << 20), metadata: .sample())
    batch.remove(try CacheKey("cities/b"))
    try await engine.apply(batch)
    try await engine.close()
    #expect(try store.bytes.count < 1 << 19)
    let again = try await store.open()
    #expect(try await again.keys() == ["cities/a"])
    try await again.put("cities/c")
    #expect(try await again.checkIntegrity() == [])
    try await again.close()
  }
}
