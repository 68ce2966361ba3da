import Foundation
import StorageSPI
import Testing

@testable import SQLiteStorage

/// Stores that released versions of the program have written.
@Suite struct FormatTests {
  /// A copy of the store called `name`, as the program left it.
  static func copyOfFixture(_ name: String) throws -> TestFolder {
    let folder = try TestFolder()
    for suffix in ["", "-wal"] {
      let source = "\(FixtureEntries.folder)/\(name).sqlite\(suffix)"
      guard FileManager.default.fileExists(atPath: source) else { continue }
      try FileManager.default.copyItem(atPath: source, toPath: folder.store + suffix)
    }
    return folder
  }

  @Test(arguments: [("version-1", false), ("version-1-log", false), ("version-1-empty", true)])
  func everyEntryOfAnOldStoreIsThere(name: String, isEmpty: Bool) async throws {
    let folder = try Self.copyOfFixture(name)
    let expected = isEmpty ? [] : try FixtureEntries.all().sorted { $0.key < $1.key }
    let engine = try await folder.open()
    #expect(try await engine.everything() == expected)
    var tally = EntryTally()
    for entry in expected {
      tally.add(EntryTally.Slot(namespace: entry.key.namespace, entry.metadata), payloadBytes: entry.payload.count)
    }
    #expect(try await engine.statistics().tally == tally)
    #expect(try await engine.checkIntegrity().isEmpty)
    try await engine.close()
  }

  @Test(arguments: ["version-1", "version-1-log", "version-1-empty"])
  func theFirstWriteUpgradesAnOldStore(name: String) async throws {
    let folder = try Self.copyOfFixture(name)
    let engine = try await folder.open()
    let before = try await engine.everything()
    #expect(try folder.shell("PRAGMA user_version") == "1")
    try await engine.put("cities/v1/empty", [1])
    #expect(try folder.shell("PRAGMA user_version; PRAGMA integrity_check") == "2\nok")
    let after = try await engine.everything()
    let others = [before, after].map { $0.filter { $0.key.text != "cities/v1/empty" } }
    #expect(others[0] == others[1])
    #expect(try await engine.checkIntegrity().isEmpty)
    let tally = try await engine.statistics().tally
    #expect(tally.total().entries == after.count)
    let payloadBytes = after.map(\.payload.count).reduce(0, +)
    #expect(tally.total().payloadBytes == payloadBytes)
    try await engine.close()
  }

  @Test func anOldStoreThatMayOnlyBeReadIsRead() async throws {
    let folder = try Self.copyOfFixture("version-1")
    let engine = try await folder.open()
    let content = try Data(contentsOf: URL(fileURLWithPath: folder.store))
    let (entries, tally) = (try await engine.everything(), try await engine.statistics().tally)
    let expected = try FixtureEntries.all().count
    #expect(entries.count == expected && tally.total().entries == expected)
    try await engine.close()
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder.store)) == content)
  }

  /// What is on disk at each moment of the upgrade is what a crash then would leave.
  @Test(arguments: 0...SQLiteSchema.upgrade.count)
  func aCrashInTheMiddleOfAnUpgradeLeavesTheOldVersion(done: Int) async throws {
    let folder = try Self.copyOfFixture("version-1")
    let connection = try SQLiteConnection(path: folder.store, flags: 2, busyTimeout: 0)
    // With a cache of one page, everything goes to the log as soon as it is changed.
    try connection.execute("PRAGMA cache_size = 1; PRAGMA journal_mode = WAL; BEGIN IMMEDIATE")
    for statement in SQLiteSchema.upgrade.prefix(done) { try connection.execute(statement) }
    let crashed = try TestFolder()
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: folder.store + suffix, toPath: crashed.store + suffix)
    }
    try connection.execute("ROLLBACK")
    let engine = try await crashed.open()
    #expect(try crashed.shell("PRAGMA user_version") == "1")
    let expected = try FixtureEntries.all().sorted { $0.key < $1.key }
    #expect(try await engine.everything() == expected)
    try await engine.put("cities/v1/empty", [1])
    #expect(try crashed.shell("PRAGMA user_version") == "2")
    #expect(try await engine.checkIntegrity().isEmpty)
    try await engine.close()
  }

  @Test func aProgramOfTheOldVersionThatWritesOnIsCounted() async throws {
    let folder = try Self.copyOfFixture("version-1")
    let old = try OtherConnection(folder.store)
    try old.execute("SELECT count(*) FROM entries")
    let engine = try await folder.open()
    try await engine.put("cities/v1/empty", [1])
    let before = try await engine.statistics().entries
    try old.execute("DELETE FROM entries WHERE key = 'cities/v1/empty'")
    #expect(try await engine.statistics().entries == before - 1)
    try await engine.put("cities/v1/other", [1])
    #expect(try await engine.statistics().entries == before)
    #expect(try await engine.checkIntegrity().isEmpty)
    try await engine.close()
  }
}
