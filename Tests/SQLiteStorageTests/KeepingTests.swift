import Foundation
import EngineAPI
import Testing

/// How entries and space are kept and released.
@Suite struct KeepingTests {
  @Test func storageCountsTheLogAndItsIndex() async throws {
    let folder = try TestFolder()
    let engine = try await folder.open()
    for number in 0..<50 { try await engine.put("cities/\(number)", [UInt8](repeating: 0xFF, count: 10_000)) }
    try await engine.put("movies/a", [1, 2])
    let count = try await engine.count()
    let expiry = EntryMetadata.sample().retainUntil
    #expect(
      count.namespaces == [
        "cities": EntryCount(entries: 50, payloadBytes: 500_000, earliestExpiry: expiry),
        "movies": EntryCount(entries: 1, payloadBytes: 2, earliestExpiry: expiry),
      ])
    let sizes = try ["", "-wal", "-shm"].map { suffix in
      try FileManager.default.attributesOfItem(atPath: folder.store + suffix)[.size] as? Int ?? 0
    }
    #expect(sizes[1] > 500_000)
    #expect(count.storageBytes == sizes.reduce(0, +))
    try await engine.close()
  }

  /// A removal after its own requirement, as an eviction has it.
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
      let before = try await engine.count()
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
      let after = try await engine.count()
      #expect(left == nil ? after.namespaces == before.namespaces : after.entries == left)
    }
    try await engine.close()
    #expect(try folder.shell("SELECT count(*) FROM entries") == "0")
  }

  /// The payload keeps its bytes and its type; its pages are not written again if the size of the metadata is the same.
  @Test func anUpdateReplacesTheMetadataAlone() async throws {
    let folder = try TestFolder()
    let engine = try await folder.open()
    let payload = [UInt8](repeating: 0x61, count: 1_000_000)
    let old = EntryMetadata.sample(attributes: ["etag": "1"], checksum: 1 << 60)
    try await engine.put("cities/a", payload, old)
    let log = folder.store + "-wal"
    func size() throws -> Int { try FileManager.default.attributesOfItem(atPath: log)[.size] as? Int ?? 0 }
    let before = try size()
    var new = EntryMetadata.sample(retainUntil: 9_000, attributes: ["etag": "2"], checksum: 1 << 61)
    for (checksum, isMet) in [(1, false), (old.checksum, true), (old.checksum, false)] as [(UInt64, Bool)] {
      var batch = WriteBatch()
      batch.update(try CacheKey("cities/a"), metadata: new, from: checksum)
      if isMet {
        try await engine.apply(batch)
      } else {
        #expect(try await code { try await engine.apply(batch) } == .conflict)
      }
    }
    #expect(try await engine.metadata("cities/a") == new)
    #expect(try size() - before < 40_000)
    new.attributes = [:]
    var batch = WriteBatch()
    batch.update(try CacheKey("cities/a"), metadata: new, from: new.checksum)
    batch.update(try CacheKey("cities/none"), metadata: new, from: 0)
    #expect(try await code { try await engine.apply(batch) } == .conflict)
    #expect(try await engine.metadata("cities/a")?.attributes == ["etag": "2"], "all or nothing")
    batch = WriteBatch()
    batch.update(try CacheKey("cities/a"), metadata: new, from: new.checksum)
    try await engine.apply(batch)
    #expect(try await engine.metadata("cities/a") == new)
    #expect(try await engine.payload("cities/a") == payload)
    #expect(try folder.shell("SELECT typeof(payload), payload_bytes FROM entries") == "text|1000000")
    try await engine.close()
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
}
