import EngineAPI
import Foundation
import SeededNumbers
import Testing

@testable import SQLiteStorage

/// Transactions for reading that stay open between reads.
@Suite struct KeptReadTests {
  /// A store with the entry "cities/a", whose payload is one byte.
  private func store(in folder: TestFolder) async throws -> any StorageEngine {
    let engine = try await folder.open()
    try await engine.put("cities/a", [0])
    return engine
  }

  private func read(_ reader: SQLiteReader, _ key: String = "cities/a") throws -> UInt8? {
    try key.withBytes { key throws(CacheError) in
      try reader.read(key) { payload, _ throws(CacheError) in payload[0] }
    }
  }

  /// A reader whose transaction no other one ends.
  private func reader(_ folder: TestFolder) throws -> SQLiteReader {
    try SQLiteReader(on: SQLiteReader.connect(folder.options()), SnapshotKeeper(interval: .seconds(3_600)))
  }

  @Test func aTransactionStaysOpenWhileNothingChanges() async throws {
    let folder = try TestFolder()
    let engine = try await store(in: folder)
    let reader = try reader(folder)
    for number in 0..<5 { #expect(try read(reader) == 0 && !reader.isKept, "read \(number)") }
    for _ in 0..<20 { _ = try read(reader) }
    #expect(reader.isKept)
    for number in UInt8(1)...3 {
      try await engine.put("cities/a", [number])
      #expect(try read(reader) == number && !reader.isKept, "a change ends it")
      for _ in 0..<20 { #expect(try read(reader, "cities/none") == nil) }
      #expect(try read(reader) == number && reader.isKept)
    }
    try OtherConnection(folder.store).execute("DELETE FROM entries")
    #expect(try read(reader) == nil)
    try await engine.close()
  }

  @Test func itEndsWhenItIsDue() async throws {
    let folder = try TestFolder()
    let engine = try await store(in: folder)
    let reader = try reader(folder)
    for _ in 0..<20 { _ = try read(reader) }
    #expect(reader.isKept)
    reader.endKeptSnapshot()
    #expect(!reader.isKept)
    for end in [{ _ = try reader.scan(ScanRequest(limit: 1)) }, { _ = try reader.count() }] {
      for _ in 0..<20 { _ = try read(reader) }
      #expect(reader.isKept)
      try await engine.put("cities/a", [7])
      try end()
      #expect(!reader.isKept && reader.isUpToDate)
    }
    try await engine.close()
  }

  /// A scan right after a write uses the writer, which must see the later commits of others.
  @Test func aScanAfterAWriteSeesTheWritesOfOthers() async throws {
    let folder = try TestFolder()
    let engine = try await store(in: folder)
    for number in 0..<20 {
      try await engine.put("cities/b\(number)", [1])
      #expect(try await engine.keys(limit: 16).count == 2)
      try OtherConnection(folder.store).execute("DELETE FROM entries WHERE key <> 'cities/a'")
      #expect(try await engine.keys(limit: 16) == ["cities/a"])
    }
    try await engine.close()
  }

  @Test func itEndsWhenTheLogIsCopied() async throws {
    let folder = try TestFolder()
    let engine = try await store(in: folder)
    let reader = try reader(folder)
    for _ in 0..<20 { _ = try read(reader) }
    let other = try OtherConnection(folder.store)
    try other.execute("PRAGMA wal_checkpoint(PASSIVE)")
    #expect(try read(reader) == 0 && !reader.isKept)
    // From here on it reads the database alone, and the log can begin again.
    for _ in 0..<20 { _ = try read(reader) }
    #expect(reader.isKept)
    #expect(try folder.shell("PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)").hasSuffix("0|0|0"))
    #expect(try read(reader) == 0)
    try await engine.close()
  }

  /// Readers continue reading all the while.
  @Test(arguments: ["PRAGMA wal_checkpoint(TRUNCATE)", "VACUUM", "INSERT INTO counts VALUES ('x', 1, 1, 1)"])
  func noOtherReaderIsHeldUp(statement: String) async throws {
    let folder = try TestFolder()
    let engine = try await store(in: folder)
    let expected = statement.hasPrefix("PRAGMA") ? "0|0|0" : ""
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<2 {
        group.addTask {
          while !Task.isCancelled {
            let found = try await engine.payload("cities/a")
            #expect(found?.count == 1)
          }
        }
      }
      for number in UInt8(0)..<5 {
        try OtherConnection(folder.store).execute("UPDATE entries SET payload = x'0\(number)'")
        let output = try folder.shell("PRAGMA busy_timeout = 30000; \(statement)")
        #expect(output == ["30000", expected].filter { !$0.isEmpty }.joined(separator: "\n"))
        try OtherConnection(folder.store).execute("DELETE FROM counts WHERE namespace = 'x'")
        #expect(try await engine.payload("cities/a") == [number])
      }
      group.cancelAll()
      try await group.waitForAll()
    }
    try await engine.close()
  }

  @Test func theOwnWriterIsNotHeldUp() async throws {
    let folder = try TestFolder()
    let engine = try await store(in: folder)
    for number in 0..<300 {
      try await engine.put("cities/\(number)", [UInt8](repeating: 0xFF, count: 40_000))
      for _ in 0..<20 { _ = try await engine.payload("cities/a") }
    }
    let log = try FileManager.default.attributesOfItem(atPath: folder.store + "-wal")[.size] as? Int ?? 0
    #expect(log < 8_000_000, "12 MB were written, and a checkpoint is due every 4 MB")
    for _ in 0..<400 { _ = try await engine.payload("cities/a") }
    try await engine.compact()
    #expect(try FileManager.default.attributesOfItem(atPath: folder.store + "-wal")[.size] as? Int == 0)
    for _ in 0..<400 { _ = try await engine.payload("cities/a") }
    try await engine.close()
  }

  /// The writer, too, continues to see its own writes.
  @Test func aWriterThatHasJustWrittenHoldsUpNoReader() async throws {
    let folder = try TestFolder()
    let (engine, second) = (try await folder.open(), try await folder.open())
    let other = try OtherConnection(folder.store)
    for round in UInt8(0)..<8 {
      for number in 0..<20 { try await engine.put("cities/\(number)", [round]) }
      switch round % 4 {
      case 0: try other.execute("DELETE FROM entries WHERE key = 'cities/\(round)'")
      case 1: try await second.put("cities/\(round)", [100])
      case 2: try other.execute("PRAGMA wal_checkpoint(PASSIVE)")
      default:
        #expect(try folder.shell("PRAGMA busy_timeout = 30000; PRAGMA wal_checkpoint(TRUNCATE)") == "30000\n0|0|0")
      }
      let found = try await engine.payload("cities/\(round)")
      #expect(found == [[], [100], [round], [round]].map { $0.isEmpty ? nil : $0 }[Int(round % 4)])
      try await engine.put("cities/\(round)", [200])
      #expect(try await second.payload("cities/\(round)") == [200])
      #expect(try await engine.count().entries == 20)
    }
    try other.execute("BEGIN IMMEDIATE")
    #expect(try await code { try await engine.put("cities/a", [1]) } == .busy)
    try other.execute("DELETE FROM entries; COMMIT")
    try await engine.put("cities/a", [1])
    #expect(try await second.keys() == ["cities/a"])
    #expect(try await engine.check().isEmpty)
    try await engine.compact()
    for handle in [engine, second] { try await handle.close() }
  }

  /// Each of two handles sees the other's writes at once, in every kind of read.
  @Test(arguments: 0..<2)
  func everyReadSeesTheLatestState(seed: Int) async throws {
    let folder = try TestFolder()
    let engines = [try await folder.open(), try await folder.open()]
    let other = try OtherConnection(folder.store)
    var generator = SeededGenerator(seed: UInt64(seed))
    var values: [UInt8?] = [nil, nil, nil]
    for round in 0..<300 {
      let (number, value) = (Int.random(in: 0..<3, using: &generator), UInt8(truncatingIfNeeded: round))
      switch Int.random(in: 0..<4, using: &generator) {
      case 0:
        var batch = WriteBatch()
        batch.remove(try CacheKey("cities/\(number)"))
        try await engines[round % 2].apply(batch)
        values[number] = nil
      case 1 where values[number] != nil:
        try other.execute("UPDATE entries SET payload = x'FF' WHERE key = 'cities/\(number)'")
        values[number] = 0xFF
      default:
        try await engines[round % 2].put("cities/\(number)", [value])
        values[number] = value
      }
      let engine = engines[Int.random(in: 0..<2, using: &generator)]
      for read in 0..<Int.random(in: 1..<40, using: &generator) {
        let found = try await engine.payload("cities/\(read % 3)")
        #expect(found == values[read % 3].map { [$0] }, "seed \(seed), round \(round), read \(read)")
      }
    }
    for engine in engines { try await engine.close() }
  }
}

extension SQLiteReader {
  /// Whether a count sees the last change of the tests above.
  fileprivate var isUpToDate: Bool {
    "cities/a".withBytes { key in
      (try? read(key) { payload, _ throws(CacheError) in payload[0] == 7 }) == true
    }
  }
}
