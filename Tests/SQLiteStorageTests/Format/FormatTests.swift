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

  /// The stores of each format: one that was closed, one with every entry in the log, and one without entries.
  static let fixtures = ["", "-log", "-empty"].flatMap { kind in [1, 2].map { (version: $0, kind: kind) } }

  @Test(arguments: fixtures)
  func everyEntryOfAnOldStoreIsThere(version: Int, kind: String) async throws {
    let folder = try Self.copyOfFixture("version-\(version)\(kind)")
    let expected = kind == "-empty" ? [] : try FixtureEntries.all().sorted { $0.key < $1.key }
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

  @Test(arguments: fixtures)
  func theFirstWriteUpgradesAnOldStore(version: Int, kind: String) async throws {
    let folder = try Self.copyOfFixture("version-\(version)\(kind)")
    let engine = try await folder.open()
    let before = try await engine.everything()
    #expect(try folder.shell("PRAGMA user_version") == "\(version)")
    try await engine.put("cities/v1/empty", [1])
    #expect(try folder.shell("PRAGMA user_version; PRAGMA integrity_check") == "3\nok")
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

  @Test(arguments: [1, 2])
  func anOldStoreThatMayOnlyBeReadIsRead(version: Int) async throws {
    let folder = try Self.copyOfFixture("version-\(version)")
    let engine = try await folder.open()
    let content = try Data(contentsOf: URL(fileURLWithPath: folder.store))
    let (entries, tally) = (try await engine.everything(), try await engine.statistics().tally)
    let expected = try FixtureEntries.all().count
    #expect(entries.count == expected && tally.total().entries == expected)
    try await engine.close()
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder.store)) == content)
  }

  /// What is on disk at each moment of the upgrade is what a crash then would leave.
  @Test(
    arguments: [Int64(1), 2].flatMap { version in
      (0...SQLiteSchema.upgrade(from: version).count).map { (version, $0) }
    })
  func aCrashInTheMiddleOfAnUpgradeLeavesTheOldVersion(version: Int64, done: Int) async throws {
    let folder = try Self.copyOfFixture("version-\(version)")
    let connection = try SQLiteConnection(path: folder.store, flags: 2, busyTimeout: 0)
    // With a cache of one page, everything goes to the log as soon as it is changed.
    try connection.execute("PRAGMA cache_size = 1; PRAGMA journal_mode = WAL; BEGIN IMMEDIATE")
    for statement in SQLiteSchema.upgrade(from: version).prefix(done) { try connection.execute(statement) }
    let crashed = try TestFolder()
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: folder.store + suffix, toPath: crashed.store + suffix)
    }
    try connection.execute("ROLLBACK")
    let engine = try await crashed.open()
    #expect(try crashed.shell("PRAGMA user_version") == "\(version)")
    let expected = try FixtureEntries.all().sorted { $0.key < $1.key }
    #expect(try await engine.everything() == expected)
    try await engine.put("cities/v1/empty", [1])
    #expect(try crashed.shell("PRAGMA user_version") == "3")
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
