import EngineAPI
import Foundation
import Testing

@testable import SQLiteStorage

/// A store is removed in any state, except while another handle uses it, or if it belongs to another application.
@Suite struct RemovalTests {
  @discardableResult
  private func remove(
    _ folder: TestFolder, at path: String? = nil, movingAside suffix: String? = nil
  ) async throws(CacheError) -> [String] {
    let plugin = SQLitePlugin()
    return try await plugin.removeStore(
      EngineConfiguration(
        for: plugin.declaration, values: ["path": .text(path ?? folder.store), "busyTimeout": .integer(0)],
        clock: FixedClock(now: Timestamp(milliseconds: 0))), movingAside: suffix)
  }

  /// A store with one entry in the database and one in the log alone, as a process leaves it that is killed.
  private func storeWithLog() async throws -> TestFolder {
    let folder = try TestFolder()
    let other = try TestFolder()
    let engine = try await other.open()
    try await engine.put("cities/a", [1])
    try OtherConnection(other.store).execute("PRAGMA wal_checkpoint(TRUNCATE)")
    try await engine.put("cities/b", [2])
    for suffix in ["", "-wal", ".uses"] {
      try FileManager.default.copyItem(atPath: other.store + suffix, toPath: folder.store + suffix)
    }
    try await engine.close()
    return folder
  }

  /// Also from the place to which a link leads.
  @Test(arguments: [false, true]) func movedStoresCanBeOpenedAtTheirNewPlace(isLinked: Bool) async throws {
    let folder = try await storeWithLog()
    let link = folder.path + "/link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder.store)
    let path = isLinked ? link : folder.store
    try Data("older".utf8).write(to: URL(fileURLWithPath: folder.store + ".damaged"))
    let moved = try await remove(folder, at: path, movingAside: ".damaged")
    #expect(moved == ["", "-wal", ".uses"].map { folder.store + ".damaged-2" + $0 })
    #expect(FileManager.default.fileExists(atPath: folder.store) == isLinked)
    for suffix in ["-wal", "-shm", ".uses"] {
      #expect(!FileManager.default.fileExists(atPath: folder.store + suffix))
    }
    let old = try await folder.open(at: folder.store + ".damaged-2")
    let new = try await folder.open(at: path)
    #expect(try await old.keys() == ["cities/a", "cities/b"])
    #expect(try await old.payload("cities/b") == [2])
    #expect(try await new.count().entries == 0)
    try await old.close()
    try await new.close()
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder.store + ".damaged")) == Data("older".utf8))
  }

  /// A version that is not known, over the tables of this version, is a damaged one.
  @Test func aStoreOfAnotherVersionStays() async throws {
    let folder = try TestFolder()
    try await folder.open().close()
    _ = try folder.shell("PRAGMA user_version = 7; PRAGMA wal_checkpoint(TRUNCATE)")
    try await remove(folder)
    #expect(!FileManager.default.fileExists(atPath: folder.store))
    try await folder.open().close()
    _ = try folder.shell("CREATE TABLE later (a); PRAGMA user_version = 7; PRAGMA wal_checkpoint(TRUNCATE)")
    #expect(await code { () async throws(CacheError) in try await remove(folder) } == .unsupportedFormat)
    #expect(try folder.shell("PRAGMA user_version") == "7")
  }

  @Test func aFileThatIsReplacedWhileItIsOpenedIsBusy() async throws {
    let folder = try TestFolder()
    try await folder.open().close()
    let connection = try SQLiteConnection(path: folder.store, flags: 1, busyTimeout: 0)
    try await remove(folder)
    try await folder.open().close()
    let error = #expect(throws: CacheError.self) { try SQLiteSchema.verify(connection) }
    #expect(error?.code == .busy)
  }

  private func code(_ body: () async throws(CacheError) -> Void) async -> CacheError.Code? {
    do throws(CacheError) { try await body() } catch { return error.code }
    return nil
  }

  /// A link leads to the disk on which the next store is to be, too.
  @Test func aLinkToTheStoreStays() async throws {
    let folder = try TestFolder()
    let target = folder.path + "/disk.sqlite"
    try FileManager.default.createSymbolicLink(atPath: folder.store, withDestinationPath: target)
    try Data().write(to: URL(fileURLWithPath: target))
    try await folder.open().close()
    try Data("damaged".utf8).write(to: URL(fileURLWithPath: target))
    try await remove(folder)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["cache.sqlite", "disk.sqlite"])
    let engine = try await folder.open()
    #expect(try await engine.count().entries == 0)
    try await engine.close()
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder.store) == target)
  }
}
