import Foundation
import SeededNumbers
import StorageSPI
import Testing

@testable import SQLiteStorage

/// The tally counts the entries, whichever process changes them.
@Suite struct TallyTests {
  /// What a pass over all entries counts.
  private func counted(_ engine: any StorageEngine) async throws -> EntryTally {
    var tally = EntryTally()
    for summary in try await engine.scan(KeyRange(), limit: 100_000) {
      tally.add(
        EntryTally.Slot(namespace: summary.key.namespace, summary.metadata), payloadBytes: summary.payloadBytes)
    }
    return tally
  }

  /// The number of entries that the stored tally counts, and that of those behind its mark. Without a mark all are.
  private func stored(_ folder: TestFolder) throws -> (counted: Int, behind: Int) {
    let connection = try SQLiteConnection(path: folder.store, flags: 1, busyTimeout: 0)
    let mark =
      "SELECT fresh_slot FROM tally, pragma_schema_version WHERE namespace = '/' AND retain_slot = schema_version"
    let counted = try connection.integer("SELECT sum(entries) FROM tally")
    let behind = try connection.integer("SELECT count(*) FROM entries WHERE rowid > coalesce((\(mark)), 0)")
    return (Int(counted), Int(behind))
  }

  private func randomBatch(_ generator: inout SeededGenerator) throws -> WriteBatch {
    var batch = WriteBatch()
    for _ in 0..<Int.random(in: 1...12, using: &generator) {
      let namespace = ["cities", "movies", "leases"].randomElement(using: &generator) ?? "cities"
      let key = try CacheKey("\(namespace)/\(Int.random(in: 0..<30, using: &generator))")
      let time = Int64.random(in: 0..<8, using: &generator) << EntryTally.slotBits
      if Int.random(in: 0..<3, using: &generator) == 0 {
        batch.remove(key)
      } else {
        let payload = [UInt8](repeating: 1, count: Int.random(in: 0..<3_000, using: &generator))
        batch.put(key, payload: payload, metadata: .sample(retainUntil: time))
      }
      if Int.random(in: 0..<40, using: &generator) == 0 { batch.require(key, .checksum(1)) }
    }
    return batch
  }

  @Test(arguments: 0..<6)
  func itIsExactAfterRandomBatchesFromTwoHandlesAndTheShell(seed: Int) async throws {
    let folder = try TestFolder()
    let engines = [try await folder.open(), try await folder.open()]
    let other = try OtherConnection(folder.store)
    let edits = [
      "DELETE FROM entries WHERE namespace = 'movies'",
      "UPDATE entries SET payload = 'xyz', payload_bytes = 3 WHERE namespace = 'cities'",
      """
      INSERT OR REPLACE INTO entries
        SELECT key, namespace, 1, 2, 3, content_type, attributes, checksum, 4, 'four' FROM entries LIMIT 5
      """,
      "VACUUM",
    ]
    var generator = SeededGenerator(seed: UInt64(seed))
    for round in 0..<60 {
      let batch = try randomBatch(&generator)
      let writer = engines[Int.random(in: 0..<2, using: &generator)]
      do {
        try await writer.apply(batch)
      } catch {
        try #require(error.code == .conflict, "seed \(seed): \(error)")
      }
      if seed >= 2, round % 7 == 3 { try other.execute(edits[round % edits.count]) }
      if round % 25 == 24 { try await engines[round % 2].compact() }
      let found = try await engines[round % 2].statistics().tally
      let expected = try await counted(engines[1 - round % 2])
      #expect(found == expected, "seed \(seed), round \(round)")
    }
    try await engines[0].put("cities/last", [1])
    let (total, tally) = (try await counted(engines[0]).total().entries, try stored(folder))
    #expect(tally.counted + tally.behind == total, "seed \(seed): the tally was not kept: \(tally)")
    #expect(try await engines[0].checkIntegrity().isEmpty, "seed \(seed)")
    for engine in engines { try await engine.close() }
  }

  @Test func aRunOfPutsSeldomWritesIt() async throws {
    let folder = try TestFolder()
    let engine = try await folder.open()
    var states: Set<Int> = []
    for number in 0..<400 {
      try await engine.put("cities/\(number)", [1])
      let tally = try stored(folder)
      #expect(tally.counted + tally.behind == number + 1 && tally.behind < 128, "\(number): \(tally)")
      states.insert(tally.counted)
      if number % 50 == 0 { #expect(try await engine.statistics().entries == number + 1) }
    }
    #expect(states.count <= 5, "\(states.sorted())")
    // What lies behind the mark may change and go without being written to it.
    try await engine.put("cities/399", [1, 2], .sample(retainUntil: 1 << 40))
    var batch = WriteBatch()
    batch.remove(try CacheKey("cities/398"))
    try await engine.apply(batch)
    #expect(states.contains(try stored(folder).counted))
    // What is counted may not.
    try await engine.put("cities/0", [1, 2])
    #expect(try stored(folder) == (399, 0))
    let (found, expected) = (try await engine.statistics().tally, try await counted(engine))
    #expect(found == expected)
    #expect(try await engine.checkIntegrity().isEmpty)
    try await engine.close()
  }

  /// What is on disk when a process ends at any moment is what was committed.
  @Test func aCrashLosesNothingOfIt() async throws {
    let folder = try TestFolder()
    let engine = try await folder.open()
    for number in 0..<300 {
      try await engine.put("cities/\(number % 170)", [UInt8](repeating: 1, count: number % 7))
      guard number % 23 == 0 else { continue }
      let crashed = try TestFolder()
      for suffix in ["", "-wal"] {
        try FileManager.default.copyItem(atPath: folder.store + suffix, toPath: crashed.store + suffix)
      }
      let other = try await crashed.open()
      let (found, expected) = (try await other.statistics().tally, try await counted(engine))
      #expect(found == expected, "after \(number)")
      try await other.put("movies/\(number)", [1])
      #expect(try await other.checkIntegrity().isEmpty, "after \(number)")
      try await other.close()
    }
    try await engine.close()
  }

  /// SQLite uses the numbers of removed rows again where they were the last ones.
  @Test func rowsWhoseNumbersAreUsedAgainAreCounted() async throws {
    let folder = try TestFolder()
    let (one, two) = (try await folder.open(), try await folder.open())
    var generator = SeededGenerator(seed: 11)
    var keys: [String] = []
    for round in 0..<300 {
      let engine = round % 90 < 80 ? one : two
      if keys.isEmpty || Int.random(in: 0..<5, using: &generator) > 1 {
        keys.append("cities/\(round)")
        try await engine.put(keys[keys.count - 1], [UInt8](repeating: 1, count: round % 5))
      } else {
        var batch = WriteBatch()
        batch.remove(try CacheKey(keys.removeLast()))
        try await engine.apply(batch)
      }
      let (found, expected) = (try await two.statistics().tally, try await counted(one))
      #expect(found == expected, "round \(round)")
    }
    #expect(try await one.checkIntegrity().isEmpty)
    try await one.close()
    try await two.close()
  }

  @Test func itIsExactAfterManyWritersAtOnce() async throws {
    let folder = try TestFolder()
    let path = folder.store
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<4 {
        group.addTask { [folder = UncheckedFolder(folder)] in
          let engine = try await folder.value.open(at: path, busyTimeout: 60_000)
          for number in 0..<50 {
            try await engine.put("cities/\(number)", [UInt8](repeating: 1, count: writer * 10 + number))
          }
          try await engine.close()
        }
      }
      try await group.waitForAll()
    }
    let engine = try await folder.open()
    let (found, expected) = (try await engine.statistics().tally, try await counted(engine))
    #expect(found == expected && found.total().entries == 50)
    #expect(try await engine.checkIntegrity().isEmpty)
    try await engine.close()
  }

  @Test func boundsHoldForEveryHandle() async throws {
    let folder = try TestFolder()
    let (one, two) = (try await folder.open(), try await folder.open())
    func put(_ key: String, _ bytes: Int, removing removed: String? = nil) throws -> WriteBatch {
      var batch = WriteBatch()
      batch.put(try CacheKey(key), payload: [UInt8](repeating: 1, count: bytes), metadata: .sample())
      if let removed { batch.remove(try CacheKey(removed)) }
      batch.bounds = StoreBounds(maxEntries: 2, maxPayloadBytes: 100, exemptNamespace: "leases")
      return batch
    }
    try await one.apply(put("cities/a", 60))
    #expect(try await code { try await two.apply(put("cities/b", 41)) } == .overBounds)
    try await two.apply(put("cities/b", 40))
    try await two.apply(put("leases/a", 1_000))
    #expect(try await code { try await one.apply(put("cities/c", 0)) } == .overBounds)
    try await one.apply(put("cities/c", 60, removing: "cities/a"))
    #expect(try await two.scan(KeyRange(), limit: 9).map(\.key.text) == ["cities/b", "cities/c", "leases/a"])
    try OtherConnection(folder.store).execute("DELETE FROM entries WHERE key = 'cities/b'")
    try await one.apply(put("cities/d", 40))
    let (found, expected) = (try await one.statistics().tally, try await counted(two))
    #expect(found == expected)
    try await one.close()
    try await two.close()
  }

  @Test(arguments: [
    ("UPDATE tally SET entries = entries + 1", "tally says 2 entries"),
    ("UPDATE tally SET fresh_slot = 9", "of other times"),
    ("UPDATE tally SET payload_bytes = -1", "tally is damaged"),
    ("UPDATE tally SET entries = 9223372036854775807", "tally is damaged"),
    ("UPDATE tally SET fresh_slot = 0 WHERE namespace = '/'", "tally says 2 entries"),
    ("DROP TRIGGER tally_insert", "CREATE TRIGGER tally_insert"),
    ("DROP VIEW entries_readable", "CREATE VIEW entries_readable"),
  ])
  func aTallyThatDisagreesIsFound(change: String, words: String) async throws {
    let folder = try TestFolder()
    let engine = try await folder.open()
    try await engine.put("cities/a", [1, 2, 3])
    try OtherConnection(folder.store).execute(change)
    let issues = try await engine.checkIntegrity()
    #expect(issues.map(\.kind) == [.structure] && issues.map(\.key) == [nil], "\(issues)")
    #expect(issues.first?.message.contains(words) == true, "\(issues)")
    #expect(try await engine.payload("cities/a") == [1, 2, 3])
    try await engine.close()
  }

  @Test func damagedSizesDoNotOverflow() async throws {
    let folder = try TestFolder()
    let engine = try await folder.open()
    for name in ["a", "b"] { try await engine.put("cities/\(name)", [1]) }
    try OtherConnection(folder.store).execute("UPDATE entries SET payload_bytes = 9223372036854775807")
    #expect(try await engine.statistics().entries == 2)
    try await engine.put("cities/a", [2])
    #expect(try await engine.checkIntegrity().map(\.key?.text) == ["cities/b"])
    try OtherConnection(folder.store).execute("UPDATE entries SET payload_bytes = -9223372036854775808")
    #expect(try await engine.statistics().payloadBytes == 0)
    try await engine.close()
  }
}
