import Foundation
import EngineAPI
import Testing

@testable import SQLiteStorage

/// The number that tells whether anything has changed.
@Suite struct ChangeCountTests {
  private func count(_ engine: any StorageEngine) throws -> UInt64? {
    try engine.changeCount()
  }

  @Test func itIsAnotherOneAfterEachChangeAndNoOther() async throws {
    let folder = try TestFolder()
    let (engine, second) = (try await folder.open(), try await folder.open())
    let other = try OtherConnection(folder.store)
    var counts: Set<UInt64> = [try #require(try count(engine))]
    func expectAnother(_ comment: Comment) throws {
      let found = try #require(try count(engine), comment)
      #expect(counts.insert(found).inserted, comment)
      #expect(try count(second) == found, comment)
    }
    for number in 0..<40 {
      try await engine.put("cities/\(number)", [1])
      try expectAnother("a put of its own, \(number)")
      try await second.put("cities/\(number)", [2])
      try expectAnother("a replacement of another handle, \(number)")
    }
    try other.execute("DELETE FROM entries WHERE key = 'cities/1'")
    try expectAnother("a change of another program")
    try await engine.compact()
    try expectAnother("compacting")
    let last = try count(engine)
    for number in 0..<40 { _ = try await engine.payload("cities/\(number)") }
    _ = try await second.scan(ScanRequest(limit: 50))
    _ = try await engine.count()
    var failing = WriteBatch()
    failing.put(try CacheKey("cities/a"), payload: [1], metadata: .sample())
    failing.require(try CacheKey("cities/a"), .absent)
    #expect(try await code { try await engine.apply(failing) } == .conflict)
    try other.execute("BEGIN IMMEDIATE; DELETE FROM entries; ROLLBACK")
    #expect(try count(engine) == last && count(second) == last)
    try await engine.close()
    #expect(try await code { _ = try count(engine) } == .closed)
    try await second.put("cities/a", [1])
    #expect(try count(second) != last)
    try await second.close()
  }

  /// In a process that begins again the log's index is made again, too.
  @Test func itIsAnotherOneAfterTheStoreWasClosed() async throws {
    let folder = try TestFolder()
    var counts: Set<UInt64> = []
    for number in 0..<10 {
      let engine = try await folder.open()
      for key in 0..<3 { try await engine.put("cities/\(key)", [UInt8(number)]) }
      let found = try #require(try count(engine))
      #expect(counts.insert(found).inserted, "after opening \(number)")
      try await engine.close()
    }
  }

  @Test func itIsUnknownWithoutALog() async throws {
    let folder = try TestFolder()
    let engine = try await folder.open()
    try await engine.put("cities/a", [1])
    try await engine.close()
    let immutable = try SQLiteConnection(path: folder.store, flags: 1, busyTimeout: 0, immutable: true)
    #expect(try immutable.integer("SELECT count(*) FROM entries") == 1)
    #expect(SQLiteLogIndex(of: immutable).state == nil)
    _ = try folder.shell("PRAGMA journal_mode = DELETE")
    let journaled = try SQLiteConnection(path: folder.store, flags: 1, busyTimeout: 0)
    #expect(try journaled.integer("SELECT count(*) FROM entries") == 1)
    #expect(SQLiteLogIndex(of: journaled).state == nil)
    #expect(!FileManager.default.fileExists(atPath: folder.store + "-shm"))
  }
}
