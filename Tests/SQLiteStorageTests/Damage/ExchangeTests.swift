import Foundation
import Platform
import StorageSPI
import Testing

@testable import SQLiteStorage

/// How files are exchanged by a repair, and what can be said of a store without opening it.
@Suite struct ExchangeTests {
  /// A store with one entry in its log alone, and damage to the header, which the log has not.
  private func makeDamagedWithLog() async throws -> DamagedStore {
    var store = try await DamagedStore()
    try store.write(store.content)
    let engine = try await store.folder.open()
    let entry = KnownEntry(key: try CacheKey("movies/late"), payload: [1, 2, 3], metadata: .sample(checksum: 77))
    try await engine.put(entry.key.text, entry.payload, entry.metadata)
    store.entries[entry.key] = entry
    // A wrong tally is damage that SQLite does not mind.
    try OtherConnection(store.folder.store).execute("UPDATE tally SET entries = entries + 1")
    let files = try ["", "-wal"].map { try Data(contentsOf: URL(fileURLWithPath: store.folder.store + $0)) }
    try await engine.close()
    try store.write(files[0])
    try files[1].write(to: URL(fileURLWithPath: store.folder.store + "-wal"))
    return store
  }

  private func repair(
    _ store: DamagedStore, _ observe: @escaping () throws(CacheError) -> Void = { () throws(CacheError) in }
  ) throws -> RepairReport {
    try SQLiteRepair(options: SQLiteOptions(store.options()), plan: store.plan, observe: observe).run()
  }

  private func content(_ path: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }

  @Test func theLogIsUsedAndNeverAppliedToTheNewDatabase() async throws {
    let store = try await makeDamagedWithLog()
    let path = store.folder.store
    let (before, log) = (try content(path), try content(path + "-wal"))
    let report = try repair(store)
    #expect(report.saved == store.entries.count && report.lost.isEmpty, "\(report)")
    let (kept, keptLog) = (try content(path + ".damaged-2026"), try content(path + ".damaged-2026-wal"))
    #expect(kept == before && keptLog == log)
    #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
    #expect(try store.folder.shell("SELECT count(*) FROM entries", on: path + ".damaged-2026") == "\(report.saved)")
    #expect(try await store.missing("log").isEmpty)
  }

  /// A repair without the log would leave out what was committed last.
  @Test func aLogThatCannotBeOpenedIsNoEmptyOne() async throws {
    let store = try await makeDamagedWithLog()
    let path = store.folder.store
    chmod(store.folder.path, 0o777)
    for suffix in ["", "-wal"] { chmod(path + suffix, suffix == "-wal" ? 0 : 0o666) }
    let options = try SQLiteOptions(store.options())
    let errors = try withoutPrivileges {
      [
        #expect(throws: CacheError.self) { _ = try SQLitePages(SQLiteFile(path), log: path + "-wal") },
        #expect(throws: CacheError.self) { _ = try StoreInspection(options) },
      ]
    }
    for error in errors { #expect(error?.code == .permissionDenied && error?.message.contains("-wal") == true) }
    chmod(path + "-wal", 0o666)
    #expect(try repair(store).saved == store.entries.count)
  }

  /// What lies in the folder between any two steps is what a crash there leaves: another repair saves everything.
  @Test func aCrashBetweenTheStepsLosesNothing() async throws {
    let store = try await makeDamagedWithLog()
    let path = store.folder.store
    var crashes: [[String: Data]] = []
    _ = try repair(store) { () throws(CacheError) in
      var files: [String: Data] = [:]
      for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: path + suffix) {
        files[suffix] = try? Data(contentsOf: URL(fileURLWithPath: path + suffix))
      }
      crashes.append(files)
    }
    #expect(crashes.count == 5)
    for (step, files) in crashes.enumerated() {
      try store.write(Data())
      for (suffix, data) in files { try data.write(to: URL(fileURLWithPath: path + suffix)) }
      let report = try repair(store)
      #expect(report.saved == store.entries.count && report.lost.isEmpty, "step \(step)")
      #expect(report.movedTo.isEmpty == (step == 4), "step \(step)")
      #expect(try await store.missing("step \(step)").isEmpty)
    }
  }

  @Test(arguments: 1...4)
  func aRepairThatFailsLeavesEveryEntry(step: Int) async throws {
    let store = try await makeDamagedWithLog()
    var count = 0
    let error = #expect(throws: CacheError.self) {
      _ = try repair(store) { () throws(CacheError) in
        count += 1
        if count == step { throw CacheError(.noSpace, "no room") }
      }
    }
    #expect(error?.code == .noSpace)
    let names = try FileManager.default.contentsOfDirectory(atPath: store.folder.path)
    #expect(!names.contains { $0.hasSuffix("-repaired") || $0.hasSuffix("-merged") }, "\(names)")
    #expect(try repair(store).saved == store.entries.count)
    #expect(try await store.missing("step \(step)").isEmpty)
  }

  @Test func aStoreThatAProcessHasOpenIsBusy() async throws {
    let store = try await makeDamagedWithLog()
    let engine = try await store.folder.open()
    #expect(try await engine.payload("movies/late") == [1, 2, 3])
    #expect(try await code { _ = try await store.repair(busyTimeout: 0) } == .busy)
    try await engine.close()
    let other = try OtherConnection(store.folder.store)
    try other.execute("SELECT count(*) FROM entries")
    #expect(try await code { _ = try await store.repair(busyTimeout: 0) } == .busy)
    withExtendedLifetime(other) {}
  }

  @Test func aFileThatIsReplacedWhileItIsOpenedIsBusy() async throws {
    let store = try await makeDamagedWithLog()
    let connection = try SQLiteConnection(path: store.folder.store, flags: 1, busyTimeout: 0)
    _ = try repair(store)
    let error = #expect(throws: CacheError.self) { try SQLiteSchema.verify(connection) }
    #expect(error?.code == .busy)
  }

  @Test func inspectingTellsTheFormatAndMakesNothing() async throws {
    let folder = try FormatTests.copyOfFixture("version-1-log")
    func inspect(_ path: String) async throws -> StoreInspection {
      let values: [String: OptionValue] = ["path": .text(path)]
      return try await SQLitePlugin().inspect(
        EngineConfiguration(for: SQLitePlugin().declaration, values: values, clock: FixedClock(now: .distantFuture)))
    }
    let old = try await inspect(folder.store)
    #expect(old.format == 1 && old.currentFormat == 3 && old.path == folder.store)
    #expect(old.files == [folder.store, folder.store + "-wal"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 2)
    let engine = try await folder.open()
    try await engine.put("cities/a", [1])
    #expect(try await inspect(folder.store).format == 3)
    #expect(try await engine.payload("cities/a") == [1])
    try await engine.close()
    let none = try await inspect(folder.path + "/none/none.sqlite")
    #expect(none.format == nil && none.files.isEmpty)
    try Data("no database".utf8).write(to: URL(fileURLWithPath: folder.path + "/x"))
    #expect(try await code { _ = try await inspect(folder.path + "/x") } == .cannotCreate)
  }
}
