import CLMDB
import Foundation
import SeededNumbers
import EngineAPI
import Testing

@testable import LMDBStorage

/// The count that is kept in the store, and the bounds that it is checked against.
@Suite struct CountTests {
  /// The count found by reading every entry.
  static func counted(_ engine: any StorageEngine) async throws -> StoreCount {
    var count = StoreCount()
    for entry in try await engine.scan(ScanRequest(limit: 100_000)).entries {
      count[entry.key.namespace].add(payloadBytes: entry.payloadBytes, retainUntil: entry.metadata.retainUntil)
    }
    return count
  }

  static func kept(_ environment: LMDBEnvironment) throws -> StoreCount? {
    try environment.withDatabases { transaction, _ throws(CacheError) in try transaction.keptCount() }
  }

  static func randomBatch(_ random: inout SeededGenerator) throws -> WriteBatch {
    var batch = WriteBatch()
    for _ in 0..<Int.random(in: 1...30, using: &random) {
      let number = Int.random(in: 0..<120, using: &random)
      let tail = number % 7 == 0 ? String(repeating: "l", count: 520) : ""
      let key = try CacheKey("n\(number % 3)/" + tail + "\(number)")
      if Int.random(in: 0..<3, using: &random) == 0 {
        batch.remove(key)
      } else {
        var metadata = EntryMetadata.sample(retainUntil: Int64.random(in: 0..<9_000_000, using: &random))
        metadata.freshUntil = Timestamp(milliseconds: Int64.random(in: 0..<200_000_000, using: &random))
        let size = [0, 10, 900, 9_000].randomElement(using: &random) ?? 0
        batch.put(key, payload: [UInt8](repeating: 1, count: size), metadata: metadata)
      }
    }
    return batch
  }

  @Test(arguments: [1, 2] as [UInt64]) func isExactAfterBatchesOfTwoEnvironments(seed: UInt64) async throws {
    let store = try TestStore()
    let engines = try [store.openEnvironment(), store.openEnvironment()].map {
      LMDBEngine(
        LMDBEnvironmentUse($0), durability: .relaxed, clock: FixedClock(now: Timestamp(milliseconds: 4_000_000)))
    }
    var random = SeededGenerator(seed: seed)
    for round in 0..<60 {
      let engine = engines[Int.random(in: 0..<2, using: &random)]
      var batch = try Self.randomBatch(&random)
      if round % 5 == 4 {
        batch.require(try CacheKey("n0/never"), .checksum(1))
        #expect(await code { try await engine.apply(batch) } == .conflict)
      } else if round % 20 == 13 {
        try await engine.compact()
      } else {
        try await engine.apply(batch)
      }
      let counted = try await Self.counted(engine)
      for engine in engines { #expect(try await engine.count().isRight(for: counted), "seed \(seed), round \(round)") }
      #expect(try await engine.check() == [], "seed \(seed), round \(round)")
    }
    for engine in engines { try await engine.close() }
    #expect(try Self.kept(store.openEnvironment())?.entries ?? 0 > 0, "the stored count is used for each call")
  }

  @Test func countsAgainAfterAProgramThatDoesNotCount() async throws {
    let (source, store) = (try TestStore(), try TestStore())
    let other = try await source.open()
    for index in 0..<9 { try await other.put("cities/\(index)", [UInt8](repeating: 1, count: 10)) }
    try await other.close()
    let engine = try await store.open()
    try await engine.put("cities/0", [1])
    _ = try NativeToolTests.run("mdb_dump", "-f", store.folder + "/dump", "-s", "cities", source.path)
    _ = try NativeToolTests.run("mdb_load", "-f", store.folder + "/dump", "-s", "cities", store.path)
    let environment = try LMDBRegistry.shared.environment(at: store.path, mapSize: 1 << 20).environment
    #expect(try Self.kept(environment) == nil)
    #expect(try await engine.count().payloadBytes == 90)
    #expect(try await engine.check() == [])
    try await engine.put("cities/0", [1])
    let kept = try Self.kept(environment)
    #expect(kept?.entries == 9 && kept?.payloadBytes == 81)
    #expect(try await engine.check() == [])
    try await engine.close()
  }

  /// The count of an entry that cannot be decoded is unknown.
  @Test func countsAgainAfterAnUndecodableEntryWasReplaced() async throws {
    let store = try TestStore()
    let engine = try await store.open()
    for key in ["cities/a", "cities/b"] { try await engine.put(key, [1, 2]) }
    try ErrorTests.store([9, 9], under: "cities/a", in: store)
    try await engine.put("movies/a", [1])
    #expect(try await engine.count().entries == 2)
    try await engine.put("cities/a", [1])
    #expect(try Self.kept(store.openEnvironment()) == nil)
    let count = try await engine.count()
    #expect(count.entries == 3 && count.payloadBytes == 4)
    try await engine.put("cities/a", [1, 2, 3])
    #expect(try Self.kept(store.openEnvironment())?.payloadBytes == 6)
    try await engine.close()
  }

  @Test(arguments: [(2, 1, 3_000), (1, 2, 3_000), (1, 1, 3_001)])
  func integrityCheckFindsAWrongCount(entries: Int, bytes: Int, expiry: Int64) async throws {
    let store = try TestStore()
    let engine = try await store.open()
    try await engine.put("cities/a", [1])
    try store.write { transaction in
      var count = StoreCount()
      count["cities"] = EntryCount(
        entries: entries, payloadBytes: bytes, earliestExpiry: Timestamp(milliseconds: expiry))
      try transaction.write(LMDBCountRecord(transaction: transaction.number, count: count))
    }
    #expect(try await engine.check().map(\.kind) == [.structure])
    try await engine.close()
  }

  @Test func countsAgainIfTheRecordCannotBeRead() async throws {
    let store = try TestStore()
    let engine = try await store.open()
    try await engine.put("cities/a", [1, 2])
    try store.write { transaction in
      // The record of a namespace of zeros.
      var count = StoreCount()
      count["cities"] = EntryCount(entries: 9, payloadBytes: 9)
      try transaction.write(LMDBCountRecord(transaction: transaction.number, count: count))
      let key = LMDBCountRecord.key
      let cursor = try transaction.openCursor(on: LMDBEnvironment.mainDatabase)
      try key.withUnsafeBytes {
        _ = try cursor.reserve($0, count: 64) { _ in }.initializeMemory(as: UInt8.self, repeating: 0)
      }
    }
    #expect(try await engine.count()["cities"].payloadBytes == 2)
    try await engine.put("cities/b", [1])
    #expect(try Self.kept(store.openEnvironment())?.payloadBytes == 3)
    try await engine.close()
  }

  @Test func theRecordComesBackExactly() {
    var count = StoreCount()
    count["cities"] = EntryCount(entries: 3, payloadBytes: 5, earliestExpiry: Timestamp(milliseconds: 7))
    count[String(repeating: "n", count: 32)] = EntryCount(entries: 1, payloadBytes: 0)
    let record = LMDBCountRecord(transaction: 9, count: count)
    var bytes = [UInt8](repeating: 0xFF, count: record.size)
    bytes.withUnsafeMutableBytes { record.write(to: $0) }
    let decoded = bytes.withUnsafeBytes { LMDBCountRecord($0) }
    #expect(decoded == record)
    for size in 0..<bytes.count where size != 8 && size != 64 {
      bytes.prefix(size).withUnsafeBytes { #expect(LMDBCountRecord($0) == nil) }
    }
  }
}
