import CLMDB
import EngineSupport
import Foundation
import SeededNumbers
import StorageSPI
import Testing

@testable import LMDBStorage

/// The tally that is kept in the store, and the bounds that it is checked against.
@Suite struct TallyTests {
  /// The tally found by reading every entry.
  static func counted(_ engine: any StorageEngine) async throws -> EntryTally {
    var tally = EntryTally()
    for summary in try await engine.scan(KeyRange(prefix: ""), limit: 100_000) {
      tally.add(EntryTally.Slot(namespace: summary.key.namespace, summary.metadata), payloadBytes: summary.payloadBytes)
    }
    return tally
  }

  static func kept(_ environment: LMDBEnvironment) throws -> EntryTally? {
    try environment.withSnapshot { transaction throws(CacheError) in
      try transaction.keptTally()
    }
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

  @Test(arguments: [1, 2, 3, 4] as [UInt64]) func isExactAfterBatchesOfTwoEnvironments(seed: UInt64) async throws {
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
      for engine in engines { #expect(try await engine.statistics().tally == counted, "seed \(seed), round \(round)") }
      #expect(try await engine.checkIntegrity() == [], "seed \(seed), round \(round)")
    }
    for engine in engines { try await engine.close() }
    #expect(try Self.kept(store.openEnvironment())?.isEmpty == false, "it is kept, and not counted for each question")
  }

  @Test func largeBatchesInManySlotsAreCounted() async throws {
    let store = try TestStore()
    let engine = try await store.open(clock: FixedClock(now: .distantFuture))
    for size in [1, 2] {
      var batch = WriteBatch()
      for index in 0..<3_000 {
        let payload = [UInt8](repeating: 1, count: size)
        var metadata = EntryMetadata.sample()
        metadata.freshUntil = Timestamp(milliseconds: Int64(index % 1_500) << 21)
        batch.put(try CacheKey("cities/\(index)"), payload: payload, metadata: metadata)
      }
      try await engine.apply(batch)
      #expect(try await engine.statistics().tally.slots.count == 1_500)
      #expect(try await engine.statistics().payloadBytes == 3_000 * size)
      #expect(try await engine.checkIntegrity() == [])
    }
    #expect(try await engine.keys() == (0..<3_000).map { "cities/\($0)" }.sorted())
    try await engine.compact()
    #expect(try await engine.statistics().tally.isEmpty)
    #expect(try await engine.checkIntegrity() == [])
    try await engine.close()
  }

  @Test func boundsHoldAndAFailedBatchChangesNothing() async throws {
    let store = try TestStore()
    let engine = try await store.open()
    func batch(_ key: String, _ size: Int, entries: Int, bytes: Int) throws -> WriteBatch {
      var batch = WriteBatch()
      batch.put(try CacheKey(key), payload: [UInt8](repeating: 1, count: size), metadata: .sample())
      batch.bounds = StoreBounds(maxEntries: entries, maxPayloadBytes: bytes, exemptNamespace: "leases")
      return batch
    }
    try await engine.apply(batch("cities/a", 60, entries: 1, bytes: 100))
    let before = try store.bytes
    #expect(await code { try await engine.apply(batch("cities/b", 1, entries: 1, bytes: 100)) } == .overBounds)
    #expect(await code { try await engine.apply(batch("movies/b", 41, entries: 9, bytes: 100)) } == .overBounds)
    #expect(await code { try await engine.apply(batch("cities/a", 101, entries: 9, bytes: 100)) } == .overBounds)
    #expect(try store.bytes == before)
    try await engine.apply(batch("leases/a", 500, entries: 1, bytes: 100))
    try await engine.apply(batch("cities/a", 100, entries: 1, bytes: 100))
    var exchange = try batch("cities/b", 100, entries: 1, bytes: 100)
    exchange.remove(try CacheKey("cities/a"))
    try await engine.apply(exchange)
    #expect(try await engine.keys() == ["cities/b", "leases/a"])
    #expect(try await engine.checkIntegrity() == [])
    try await engine.close()
  }

  @Test func countsAnewAfterAProgramThatKeepsNoTally() async throws {
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
    #expect(try await engine.statistics().payloadBytes == 90)
    #expect(try await engine.checkIntegrity() == [])
    try await engine.put("cities/0", [1])
    #expect(try Self.kept(environment)?.total() == EntryTally.Count(entries: 9, payloadBytes: 81))
    #expect(try await engine.checkIntegrity() == [])
    try await engine.close()
  }

  @Test func integrityCheckFindsAWrongTally() async throws {
    let store = try TestStore()
    let engine = try await store.open()
    try await engine.put("cities/a", [1])
    try Self.write(try LMDBRegistry.shared.environment(at: store.path, mapSize: 1 << 20).environment) { transaction in
      let namespace = try #require(Array("cities".utf8).withUnsafeBytes { LMDBNamespace(name: $0) })
      let slot = LMDBSlot(namespace, freshUntil: .zero, retainUntil: .zero)
      _ = try transaction.add(EntryTally.Count(entries: 1, payloadBytes: 1), to: slot)
      var summary = try #require(try transaction.summary())
      summary.transaction = transaction.number
      try transaction.write(summary)
    }
    #expect(try await engine.checkIntegrity().map(\.kind) == [.structure])
    try await engine.close()
  }

  @Test func anotherFormatIsRefusedByItsNumber() async throws {
    let store = try TestStore()
    try await store.open().close()
    try Self.write(try store.openEnvironment()) { transaction in
      try LMDBSummary.key.withUnsafeBytes { key in
        try transaction.reserve(key, count: 8, in: LMDBEnvironment.mainDatabase)
          .copyBytes(from: [2, 0, 0xFD, 0xFF, 9, 9, 9, 9] as [UInt8])
      }
    }
    #expect(await code { _ = try await store.open() } == .unsupportedFormat)
    #expect(try await LMDBPlugin().inspect(store.configuration).format == 2)
  }

  /// Writes to a store as a defect, or a program of another version, would.
  private static func write(_ environment: LMDBEnvironment, _ body: (LMDBTransaction) throws -> Void) throws {
    environment.gate.enter()
    defer { environment.gate.leave() }
    let transaction = try environment.beginWriting(.relaxed)
    defer { transaction.abort() }
    try body(transaction)
    try transaction.commit()
  }
}
