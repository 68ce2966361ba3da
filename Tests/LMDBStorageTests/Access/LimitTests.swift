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

  /// What lies behind the map is memory of the process, which would be emptied.
  @Test(arguments: [(9, 40_960), (255, 1_048_576), (256, 1_048_576), (99_999, 1_048_576)])
  func memoryIsReleasedOnlyWithinTheMap(lastPage: Int, bytes: Int) {
    var info = MDB_envinfo()
    (info.me_mapsize, info.me_last_pgno) = (1_048_576, lastPage)
    #expect(LMDBPages.mappedBytes(info, pageSize: 4_096) == bytes)
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

  /// LMDB takes pages for a large value, and leaves them unwritten where the value is removed in the same batch.
  @Test func manyPagesBeyondTheEndOfTheFileAreNoDamage() async throws {
    let store = try TestStore()
    let engine = try await store.open(mapSize: 1 << 30)
    for key in ["cities/a", "cities/b"] { try await engine.put(key) }
    try await engine.close()
    let file = try #require(FileHandle(forWritingAtPath: store.dataFile))
    for metaPage in [0, 4_096] as [UInt64] {
      try file.seek(toOffset: metaPage + 136)
      try file.write(contentsOf: withUnsafeBytes(of: UInt64(200_000)) { Array($0) })
    }
    try file.close()
    let again = try await store.open()
    #expect(try await again.keys() == ["cities/a", "cities/b"])
    try await again.put("cities/c")
    #expect(try await again.checkIntegrity() == [])
    try await again.close()
  }
}
