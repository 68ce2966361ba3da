import Foundation
import SeededNumbers
import EngineAPI
import Testing

@testable import SQLiteStorage

/// The counts match the entries, whichever process changes them.
@Suite struct CountTests {
  /// The result of a scan over all entries.
  private func counted(_ engine: any StorageEngine) async throws -> StoreCount {
    var count = StoreCount()
    for entry in try await engine.scan(ScanRequest(limit: 100_000)).entries {
      count[entry.key.namespace].add(payloadBytes: entry.payloadBytes, retainUntil: entry.metadata.retainUntil)
    }
    return count
  }

  /// Expects that `engine` counts the entries that `other` has, and knows a time before which none of them expires.
  private func expectRight(
    _ engine: any StorageEngine, _ other: any StorageEngine, isExact: Bool = false, _ comment: Comment,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let expected = try await counted(other).namespaces
    let found = try await engine.count().namespaces
    func isRight(_ namespace: String, _ count: EntryCount) -> Bool {
      guard let expected = expected[namespace] else { return false }
      return count.entries == expected.entries && count.payloadBytes == expected.payloadBytes
        && count.earliestExpiry <= expected.earliestExpiry
    }
    #expect(
      isExact ? found == expected : found.keys == expected.keys && found.allSatisfy(isRight),
      "\(comment): \(found), not \(expected)", sourceLocation: sourceLocation)
  }

  /// The number of entries in the stored counts, and the number of entries after their mark. Without a mark all are
  /// after it.
  private func stored(_ folder: TestFolder) throws -> (counted: Int, behind: Int) {
    let connection = try SQLiteConnection(path: folder.store, flags: 1, busyTimeout: 0)
    let counted = try connection.integer("SELECT sum(entries) FROM counts WHERE namespace <> '/'")
    let behind = try connection.integer(
      "SELECT count(*) FROM entries WHERE id > coalesce((SELECT entries FROM counts WHERE namespace = '/'), 0)")
    return (Int(counted), Int(behind))
  }

  private func randomBatch(_ generator: inout SeededGenerator) throws -> WriteBatch {
    var batch = WriteBatch()
    for _ in 0..<Int.random(in: 1...12, using: &generator) {
      let namespace = ["cities", "movies", "leases"].randomElement(using: &generator) ?? "cities"
      let key = try CacheKey("\(namespace)/\(Int.random(in: 0..<30, using: &generator))")
      let time = Int64.random(in: 1..<8, using: &generator) * 1_000
      let checksum = UInt64.random(in: 0..<2, using: &generator)
      switch Int.random(in: 0..<30, using: &generator) {
      case 0..<9: batch.remove(key)
      case 9: batch.update(key, metadata: .sample(retainUntil: time, checksum: 1 - checksum), from: checksum)
      default:
        let payload = [UInt8](repeating: 1, count: Int.random(in: 0..<3_000, using: &generator))
        batch.put(key, payload: payload, metadata: .sample(retainUntil: time, checksum: checksum))
      }
      if Int.random(in: 0..<40, using: &generator) == 0 { batch.require(key, .checksum(7)) }
    }
    return batch
  }

  @Test(arguments: [0, 2, 3])
  func itIsExactAfterRandomBatchesFromTwoHandlesAndTheShell(seed: Int) async throws {
    let folder = try TestFolder()
    let engines = [try await folder.open(), try await folder.open()]
    let other = try OtherConnection(folder.store)
    let edits = [
      "DELETE FROM entries WHERE key GLOB 'movies/*'",
      "UPDATE entries SET payload = 'xyz', payload_bytes = 3 WHERE key GLOB 'cities/*'",
      """
      INSERT OR REPLACE INTO entries
        SELECT NULL, key, 1, 2, 3, content_type, attributes, checksum, 6, 4, 'four' FROM entries LIMIT 5
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
      let isExact = round % 25 == 24
      try await expectRight(
        engines[round % 2], engines[1 - round % 2], isExact: isExact, "seed \(seed), round \(round)")
    }
    try await engines[0].put("cities/last", [1])
    let (total, count) = (try await counted(engines[0]).entries, try stored(folder))
    #expect(count.counted + count.behind == total, "seed \(seed): the counts were not kept: \(count)")
    #expect(try await engines[0].check().isEmpty, "seed \(seed)")
    for engine in engines { try await engine.close() }
  }

  @Test func aRunOfPutsSeldomWritesIt() async throws {
    let folder = try TestFolder()
    let engine = try await folder.open()
    var states: Set<Int> = []
    for number in 0..<400 {
      try await engine.put("cities/\(number)", [1])
      let count = try stored(folder)
      #expect(count.counted + count.behind == number + 1 && count.behind < 128, "\(number): \(count)")
      states.insert(count.counted)
      if number % 50 == 0 { #expect(try await engine.count().entries == number + 1) }
    }
    #expect(states.count <= 5, "\(states.sorted())")
    // A change after the mark is not written, nor is one that changes no number.
    try await engine.put("cities/399", [1, 2], .sample(retainUntil: 1 << 40))
    var batch = WriteBatch()
    batch.remove(try CacheKey("cities/398"))
    try await engine.apply(batch)
    try await engine.put("cities/1", [2], .sample(retainUntil: 1 << 40))
    batch = WriteBatch()
    batch.update(try CacheKey("cities/2"), metadata: .sample(checksum: 8), from: 7)
    try await engine.apply(batch)
    #expect(states.contains(try stored(folder).counted))
    // Any other change to a counted row is written.
    try await engine.put("cities/0", [1, 2])
    #expect(try stored(folder) == (399, 0))
    try await expectRight(engine, engine, "after all")
    #expect(try await engine.check().isEmpty)
    try await engine.close()
  }

  /// If a process ends at any moment, the disk has exactly the committed changes.
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
      try await expectRight(other, engine, "after \(number)")
      try await other.put("movies/\(number)", [1])
      #expect(try await other.check().isEmpty, "after \(number)")
      try await other.close()
    }
    try await engine.close()
  }

  /// SQLite uses the numbers of removed rows again if they were the last ones.
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
      try await expectRight(two, one, "round \(round)")
    }
    #expect(try await one.check().isEmpty)
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
    try await expectRight(engine, engine, isExact: true, "after all")
    #expect(try await engine.count().entries == 50)
    #expect(try await engine.check().isEmpty)
    try await engine.close()
  }

  @Test(arguments: [
    ("UPDATE counts SET entries = entries + 1 WHERE namespace <> '/'", "counts say 2 entries"),
    ("UPDATE counts SET earliest_expiry = 3001 WHERE namespace <> '/'", "expires earlier"),
    ("UPDATE counts SET namespace = 'movies' WHERE namespace <> '/'", "other namespaces"),
    ("UPDATE counts SET payload_bytes = -1", "'counts' is damaged"),
    ("UPDATE counts SET entries = 9223372036854775807 WHERE namespace <> '/'", "'counts' is damaged"),
    ("UPDATE counts SET entries = 0 WHERE namespace = '/'", "counts say 2 entries"),
    ("DROP TRIGGER counts_insert", "CREATE TRIGGER counts_insert"),
    ("DROP VIEW entries_readable", "CREATE VIEW entries_readable"),
  ])
  func countsThatDisagreeAreFound(change: String, words: String) async throws {
    let folder = try TestFolder()
    let engine = try await folder.open()
    try await engine.put("cities/a", [1, 2, 3])
    try OtherConnection(folder.store).execute(change)
    let issues = try await engine.check()
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
    #expect(try await engine.count().entries == 2)
    try await engine.put("cities/a", [2])
    #expect(try await engine.check().map(\.key?.text) == ["cities/b"])
    try OtherConnection(folder.store).execute("UPDATE entries SET payload_bytes = -9223372036854775808")
    #expect(try await engine.count().payloadBytes == 0)
    try await engine.close()
  }
}
