import Foundation
import StorageSPI
import Testing

@testable import SQLiteStorage

/// SQLite drops the damaged end of a log silently, so the engine reports the damage before SQLite opens the store. A log
/// that a crash cut short is not damaged.
@Suite struct LogDamageTests {
  private static let header = 32
  private static let frame = 24 + 4_096

  /// A store, the log of four batches, and its index, as a process leaves them that is killed.
  private struct Left {
    let store: DamagedStore
    let database: Data
    let log: Data
    let index: Data

    init() async throws {
      store = try await DamagedStore()
      let engine = try await store.folder.open()
      for number in 1...4 {
        try await engine.put("cities/late-\(number)", [UInt8](repeating: 7, count: 5_000 * number))
      }
      database = try Data(contentsOf: URL(fileURLWithPath: store.folder.store))
      log = try Data(contentsOf: URL(fileURLWithPath: store.folder.store + "-wal"))
      index = try Data(contentsOf: URL(fileURLWithPath: store.folder.store + "-shm"))
      try await engine.close()
    }

    var frames: Int { (log.count - header) / frame }

    /// The damage that the engine reports for the store with this log.
    func damage(_ log: Data, withIndex: Bool) async throws -> String? {
      try store.write(database)
      try log.write(to: URL(fileURLWithPath: store.folder.store + "-wal"))
      if withIndex { try index.write(to: URL(fileURLWithPath: store.folder.store + "-shm")) }
      let names = try FileManager.default.contentsOfDirectory(atPath: store.folder.path).sorted()
      let damage = try await SQLitePlugin().inspect(try store.options()).hiddenDamage
      #expect(try FileManager.default.contentsOfDirectory(atPath: store.folder.path).sorted() == names)
      #expect(try Data(contentsOf: URL(fileURLWithPath: store.folder.store + "-wal")) == log)
      return damage
    }
  }

  /// A database that was removed without its log may have had commits that are nowhere else.
  @Test func aLogWhoseDatabaseIsGoneIsSetAside() async throws {
    let left = try await Left()
    _ = try await left.damage(left.log, withIndex: true)
    let path = left.store.folder.store
    try FileManager.default.removeItem(atPath: path)
    let engine = try await left.store.folder.open()
    #expect(try await engine.scan(KeyRange(), limit: 10).isEmpty)
    try await engine.close()
    #expect(try Data(contentsOf: URL(fileURLWithPath: path + "-wal.orphaned")) == left.log)
  }

  @Test(arguments: [true, false]) func aSoundLogHasNone(withIndex: Bool) async throws {
    let left = try await Left()
    #expect(left.frames > 8)
    #expect(try await left.damage(left.log, withIndex: withIndex) == nil)
  }

  /// The index knows how many frames there were. Without it the last one could have been cut short by a crash.
  @Test(arguments: [true, false]) func aWrongByteIsReported(withIndex: Bool) async throws {
    let left = try await Left()
    let lastFrame = Self.header + (left.frames - 1) * Self.frame
    for place in left.log.indices where place < 64 || place % 331 == 0 || place == lastFrame + 100 {
      // Bytes 12 to 15 are the number of checkpoints, which the checksum of the header covers like all the others.
      var log = left.log
      log[place] ^= 1
      let damage = try await left.damage(log, withIndex: withIndex)
      if place < lastFrame || withIndex {
        #expect(damage?.contains("cache.sqlite-wal is damaged") == true, "byte \(place)")
      } else {
        #expect(damage == nil, "byte \(place)")
      }
    }
  }

  /// A process that reads the store makes an index of the usable part, and leaves the log alone.
  @Test func aReadBeforehandDoesNotHideIt() async throws {
    let left = try await Left()
    var log = left.log
    log[Self.header + 2 * Self.frame + 100] ^= 1
    _ = try await left.damage(log, withIndex: true)
    let engine = try await left.store.folder.open()
    #expect(try await engine.payload("cities/late-4") == nil)
    try await engine.close()
    #expect(try await SQLitePlugin().inspect(try left.store.options()).hiddenDamage != nil)
  }

  /// A write that was cut short leaves a part of a log. Where the index names more commits, they are lost.
  @Test(arguments: [true, false]) func aLogThatWasCutOffMayBeAsACrashLeftIt(withIndex: Bool) async throws {
    let left = try await Left()
    for size in stride(from: Self.header, to: left.log.count, by: 1_733) {
      let damage = try await left.damage(left.log.prefix(size), withIndex: withIndex)
      let isNoticed = withIndex && (size - Self.header) % Self.frame != 0
      if !withIndex { #expect(damage == nil, "\(size) bytes") }
      if isNoticed { #expect(damage != nil, "\(size) bytes") }
    }
  }

  /// Frames of a transaction that was rolled back stay where the next one has not written over them.
  @Test func framesOfARolledBackTransactionAreNoDamage() async throws {
    let left = try await Left()
    try left.store.write(left.database)
    let path = left.store.folder.store
    let other = try OtherConnection(path)
    try other.execute("PRAGMA wal_autocheckpoint = 0; UPDATE entries SET stored_at = stored_at WHERE key LIKE '%30%'")
    try other.execute(
      "PRAGMA cache_size = 1; BEGIN; UPDATE entries SET payload = zeroblob(20000), stored_at = 5; ROLLBACK")
    let log = try Data(contentsOf: URL(fileURLWithPath: path + "-wal"))
    #expect(log.count > Self.header + 20 * Self.frame, "the transaction has written to the log")
    withExtendedLifetime(other) {}
    #expect(try await left.damage(log, withIndex: false) == nil)
  }

  @Test func theLogOfAStoreInUseIsNotJudged() async throws {
    let left = try await Left()
    try left.store.write(left.database)
    let engine = try await left.store.folder.open()
    for number in 1...4 { try await engine.put("cities/later-\(number)", [UInt8](repeating: 7, count: 9_000)) }
    let file = try #require(FileHandle(forUpdatingAtPath: left.store.folder.store + "-wal"))
    try file.seek(toOffset: 100)
    try file.write(contentsOf: Data([0x58, 0x58, 0x58]))
    try file.close()
    #expect(try await SQLitePlugin().inspect(try left.store.options()).hiddenDamage == nil)
    try await engine.close()
  }
}
