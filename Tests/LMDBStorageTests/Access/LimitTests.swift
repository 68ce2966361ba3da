import CLMDB
import Foundation
import CacheBase
import EngineAPI
import Testing

@testable import LMDBStorage

/// Lack of addresses, memory or room on the disk.
@Suite struct LimitTests {
  /// LMDB gives up its map before it asks for a larger one.
  @Test func aMapThatCannotGrowStaysAsItIs() async throws {
    let store = try TestStore()
    let environment = try store.openEnvironment()
    let engine = LMDBEngine(LMDBEnvironmentUse(environment), durability: .relaxed, clock: FixedClock(now: .zero))
    try await engine.put("cities/a", [1])
    let size = environment.mapUse.size
    // More than any process has addresses for.
    #expect(await code { try environment.enlargeMap(from: size, to: 1 << 50) } == .noSpace)
    #expect(try await engine.payload("cities/a") == [1])
    try await engine.put("cities/b", [2])
    #expect(try await engine.keys() == ["cities/a", "cities/b"])
    try await engine.close()
  }

  /// The bytes of the store's map that are in the memory of this process.
  private static func residentBytes(of store: TestStore) throws -> Int {
    let maps = try #require(try FileHandle(forReadingAtPath: "/proc/self/smaps")?.readToEnd())
    let lines = String(decoding: maps, as: UTF8.self).split(separator: "\n")
    let start = try #require(lines.firstIndex { $0.hasSuffix(store.dataFile) })
    let line = try #require(lines[start...].first { $0.hasPrefix("Rss:") })
    return try #require(Int(line.filter(\.isNumber))) * 1_024
  }

  /// A walk through a large store takes no more memory than one through a small one.
  @Test func aLargeScanGivesItsPagesBackAndASmallOneKeepsThem() async throws {
    let store = try TestStore()
    let engine = try await store.open(mapSize: 1 << 30)
    var batch = WriteBatch()
    for number in 0..<1_000 {
      batch.put(
        try CacheKey("cities/\(number)"), payload: [UInt8](repeating: 7, count: 20_000), metadata: .sample())
    }
    try await engine.apply(batch)
    var request = ScanRequest(limit: 200, includesPayloads: true)
    var count = 0
    repeat {
      let page = try await engine.scan(request)
      count += page.entries.count { $0.payload == [UInt8](repeating: 7, count: 20_000) }
      request.position = page.next
      #expect(try Self.residentBytes(of: store) < 4 << 20)
    } while request.position != nil
    #expect(count == 1_000)
    #expect(try await engine.scan(ScanRequest(limit: 257)).entries.count == 257)
    #expect(try Self.residentBytes(of: store) < 4 << 20)
    for number in 0..<1_000 { #expect(try await engine.payload("cities/\(number)")?.count == 20_000) }
    let resident = try Self.residentBytes(of: store)
    #expect(resident > 16 << 20)
    #expect(try await engine.scan(ScanRequest(limit: 100)).entries.count == 100)
    #expect(try Self.residentBytes(of: store) >= resident)
    try await engine.close()
  }

  /// LMDB writes to the lock file through a map: without room on the disk, that would end the process.
  @Test func theLockFileHasItsSpaceBeforeItIsMapped() async throws {
    let store = try TestStore()
    let engine = try await store.open()
    try await engine.put("cities/a")
    var locks = stat()
    #expect(stat(LMDBFiles(store.path).lock, &locks) == 0)
    #expect(locks.st_blocks * 512 >= locks.st_size && locks.st_size > 0)
    try await engine.close()
  }

  /// LMDB takes pages for a large value, and leaves them unwritten if the value is removed in the same batch.
  @Test func freePagesBeyondTheEndOfTheFileAreNotDamage() async throws {
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
    #expect(try await again.check() == [])
    try await again.close()
  }
}
