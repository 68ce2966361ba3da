import Foundation
import SQLiteStorage
import StorageSPI
import Testing

/// A store is removed in whatever state it is, but not under another handle, and not where it is another application's.
@Suite struct RemovalTests {
  private func remove(_ folder: TestFolder) async throws(CacheError) {
    let plugin = SQLitePlugin()
    _ = try await plugin.removeStore(
      EngineConfiguration(
        for: plugin.declaration, values: ["path": .text(folder.store), "busyTimeout": .integer(0)],
        clock: FixedClock(now: Timestamp(milliseconds: 0))), movingAside: nil)
  }

  private func code(_ body: () async throws(CacheError) -> Void) async -> CacheError.Code? {
    do throws(CacheError) { try await body() } catch { return error.code }
    return nil
  }

  @Test(arguments: ["", "this is no store", String(repeating: "x", count: 9_000)])
  func whatCannotBeOpenedIsRemoved(content: String) async throws {
    let folder = try TestFolder()
    try await folder.open().close()
    try Data(content.utf8).write(to: URL(fileURLWithPath: folder.store))
    try await remove(folder)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    let engine = try await folder.open()
    #expect(try await engine.checkIntegrity().isEmpty)
    #expect(try await engine.statistics().entries == 0)
    try await engine.close()
  }

  @Test func nothingIsRemovedUnderAnotherHandle() async throws {
    let folder = try TestFolder()
    let engine = try await folder.open()
    #expect(await code { () async throws(CacheError) in try await remove(folder) } == .busy)
    #expect(try await engine.checkIntegrity().isEmpty)
    try await engine.close()
    try await remove(folder)
    #expect(!FileManager.default.fileExists(atPath: folder.store))
  }

  @Test func anotherApplicationsDatabaseStays() async throws {
    let folder = try TestFolder()
    _ = try folder.shell("CREATE TABLE photos (name TEXT); INSERT INTO photos VALUES ('a')")
    #expect(await code { () async throws(CacheError) in try await remove(folder) } == .cannotCreate)
    #expect(try folder.shell("SELECT name FROM photos") == "a")
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
    #expect(try await engine.statistics().entries == 0)
    try await engine.close()
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder.store) == target)
  }

  @Test(arguments: [10, 100_000])
  func aFileOfSomeoneElseStays(size: Int) async throws {
    let folder = try TestFolder()
    let content = Data(repeating: 0x61, count: size)
    try content.write(to: URL(fileURLWithPath: folder.store))
    #expect(await code { () async throws(CacheError) in try await remove(folder) } == .cannotCreate)
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder.store)) == content)
  }

  @Test func whereThereIsNoStoreNothingHappens() async throws {
    let folder = try TestFolder()
    try await remove(folder)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }
}
