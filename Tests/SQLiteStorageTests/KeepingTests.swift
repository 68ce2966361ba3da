import Foundation
import StorageSPI
import Testing

/// How entries and space are kept and given back.
@Suite struct KeepingTests {
  @Test func storageCountsTheLogAndItsIndex() async throws {
    let folder = try TestFolder()
    let engine = try await folder.open()
    for number in 0..<50 { try await engine.put("cities/\(number)", [UInt8](repeating: 0xFF, count: 10_000)) }
    try await engine.put("movies/a", [1, 2])
    let statistics = try await engine.statistics()
    #expect(statistics.namespaces.map(\.name) == ["cities", "movies"])
    #expect(statistics.namespaces.map(\.entries) == [50, 1])
    #expect(statistics.namespaces.map(\.payloadBytes) == [500_000, 2])
    let sizes = try ["", "-wal", "-shm"].map { suffix in
      try FileManager.default.attributesOfItem(atPath: folder.store + suffix)[.size] as? Int ?? 0
    }
    #expect(sizes[1] > 500_000)
    #expect(statistics.storageBytes == sizes.reduce(0, +))
    try await engine.close()
  }

  /// A removal that follows its own requirement is one statement: it must fail as two would, and count as they do.
  @Test func aRemovalChecksTheVersionThatIsRequiredOfIt() async throws {
    let folder = try TestFolder()
    let engine = try await folder.open()
    let (key, other) = (try CacheKey("cities/a"), try CacheKey("cities/b"))
    var metadata = EntryMetadata.sample()
    for (key, checksum) in [(key, UInt64.max), (other, 0)] {
      metadata.checksum = checksum
      try await engine.put(key.text, [1, 2, 3], metadata)
    }
    for (required, removed, checksum, left) in [
      (key, key, 0, nil), (try CacheKey("cities/c"), try CacheKey("cities/c"), 0, nil), (key, other, 0, nil),
      (key, other, .max, 1), (key, key, .max, 0),
    ] as [(CacheKey, CacheKey, UInt64, Int?)] {
      let before = try await engine.statistics()
      var batch = WriteBatch()
      batch.require(required, .checksum(checksum))
      batch.remove(removed)
      let isDone: Bool
      do {
        try await engine.apply(batch)
        isDone = true
      } catch {
        #expect(error.code == .conflict && error.message.contains(required.text))
        isDone = false
      }
      #expect(isDone == (left != nil), "\(required), \(removed), \(checksum)")
      let after = try await engine.statistics()
      #expect(left == nil ? after.tally == before.tally : after.entries == left)
    }
    try await engine.close()
    #expect(try folder.shell("SELECT count(*) FROM entries") == "0")
  }

  @Test func compactingRemovesTheExpiredAndTheirSpace() async throws {
    let folder = try TestFolder()
    let engine = try await folder.open(now: 5_000)
    for number in 0..<100 {
      let metadata = EntryMetadata.sample(retainUntil: number == 7 ? 5_001 : number == 8 ? 5_000 : 4_000)
      try await engine.put("cities/\(number)", [UInt8](repeating: 0xFF, count: 20_000), metadata)
    }
    let before = try await engine.statistics()
    try await engine.compact()
    let after = try await engine.statistics()
    #expect(try await engine.scan(KeyRange(), limit: 9).map(\.key.text) == ["cities/7"])
    #expect(after.entries == 1)
    #expect(after.storageBytes < before.storageBytes / 10)
    try await engine.put("cities/new", [1])
    try await engine.close()
    #expect(try folder.shell("PRAGMA application_id; PRAGMA user_version; PRAGMA journal_mode") == "1130447720\n1\nwal")
  }

  @Test func aLongRunOfWritesDoesNotLetTheLogGrow() async throws {
    let folder = try TestFolder()
    let engine = try await folder.open()
    for number in 0..<600 { try await engine.put("cities/\(number)", [UInt8](repeating: 0xFF, count: 40_000)) }
    let log = try FileManager.default.attributesOfItem(atPath: folder.store + "-wal")[.size] as? Int ?? 0
    #expect(log < 8_000_000, "24 MB were written, a checkpoint is due every 4 MB")
    try await engine.close()
  }

  @Test func closingLeavesTheWholeStoreInOneFile() async throws {
    let folder = try TestFolder()
    let engine = try await folder.open()
    try await engine.put("cities/a", [1])
    try await engine.close()
    try FileManager.default.copyItem(atPath: folder.store, toPath: folder.path + "/copy.sqlite")
    let copy = try await folder.open(at: folder.path + "/copy.sqlite")
    #expect(try await copy.payload("cities/a") == [1])
    try await copy.close()
  }

  @Test func metadataOfAnyTextComesBack() async throws {
    let folder = try TestFolder()
    let engine = try await folder.open()
    let metadata = EntryMetadata(
      storedAt: Timestamp(milliseconds: 0), freshUntil: Timestamp(milliseconds: .max), retainUntil: .distantFuture,
      contentType: "a\u{0}b\"ü\n", attributes: ["": "", "q\"\\\u{0}\u{1F}/": "\u{10FFFF}é\r\n", "etag": "W/\"x\""],
      checksum: .max)
    try await engine.put("cities/a", [], metadata)
    #expect(try await engine.metadata("cities/a") == metadata)
    #expect(try await engine.scan(KeyRange(), limit: 1).map(\.metadata) == [metadata])
    try await engine.close()
  }

  @Test func entriesMayBeVeryLarge() async throws {
    let folder = try TestFolder()
    let engine = try await folder.open(durability: .relaxed)
    let key = "cities/" + String(repeating: "k", count: CacheKey.maximumLength - 7)
    var payload = [UInt8](repeating: 0xA5, count: 65 << 20)
    payload[payload.count - 1] = 1
    try await engine.put(key, payload)
    let isEqual = try await engine.read(CacheKey(key)) { [payload] bytes, _ in
      bytes.withUnsafeBufferPointer { found in
        found.count == payload.count && found.baseAddress.map { memcmp($0, payload, found.count) == 0 } == true
      }
    }
    #expect(isEqual == true)
    try await engine.close()
  }

  @Test func aBatchThatFailsHalfWayChangesNothing() async throws {
    let folder = try TestFolder()
    let engine = try await folder.open()
    try await engine.put("cities/a", [1], .sample(checksum: .max))
    var batch = WriteBatch()
    batch.put(try CacheKey("cities/b"), payload: [2], metadata: .sample())
    batch.require(try CacheKey("cities/a"), .checksum(.max))
    batch.remove(try CacheKey("cities/a"))
    batch.require(try CacheKey("cities/a"), .checksum(.max))
    #expect(try await code { try await engine.apply(batch) } == .conflict)
    #expect(try await engine.scan(KeyRange(), limit: 9).map(\.key.text) == ["cities/a"])
    try await engine.close()
    #expect(try await code { try await engine.apply(WriteBatch()) } == .closed)
    #expect(try await code { _ = try await engine.payload("cities/a") } == .closed)
    #expect(try await code { _ = try await engine.statistics() } == .closed)
    #expect(try await code { try await engine.compact() } == .closed)
    try await engine.close()
  }
}
