import Foundation
import StorageSPI
import Testing

@testable import LMDBStorage

/// A store is removed in whatever state it is, but not while it is open.
@Suite struct RemovalTests {
  @Test(arguments: ["", "this is no store", String(repeating: "x", count: 90_000)])
  func whatCannotBeOpenedIsRemoved(content: String) async throws {
    let store = try TestStore()
    try await store.open().close()
    try Data(content.utf8).write(to: URL(fileURLWithPath: store.dataFile))
    _ = try await LMDBPlugin().removeStore(try store.configuration, movingAside: nil)
    #expect(!FileManager.default.fileExists(atPath: store.dataFile))
    let engine = try await store.open()
    #expect(try await engine.check().isEmpty)
    #expect(try await engine.count().entries == 0)
    try await engine.close()
  }

  @Test func aStoreThatIsOpenStays() async throws {
    let store = try TestStore()
    let engine = try await store.open()
    let configuration = try store.configuration
    do throws(CacheError) {
      _ = try await LMDBPlugin().removeStore(configuration, movingAside: nil)
      Issue.record("it was removed")
    } catch {
      #expect(error.code == .busy)
    }
    #expect(FileManager.default.fileExists(atPath: store.dataFile))
    try await engine.close()
    _ = try await LMDBPlugin().removeStore(configuration, movingAside: nil)
    #expect(!FileManager.default.fileExists(atPath: store.dataFile))
  }

  /// The moved store opens where it is, and an empty one takes its place. A taken name gets a number.
  @Test func aStoreIsMovedAsideWithItsMark() async throws {
    let store = try TestStore()
    var moved: [String] = []
    for number in UInt8(1)...3 {
      let engine = try await store.open()
      try await engine.put("cities/a", [number])
      try await engine.close()
      moved += try await LMDBPlugin().removeStore(store.configuration, movingAside: ".damaged-today")
      #expect(try FileManager.default.contentsOfDirectory(atPath: store.path) == ["lock.mdb"])
      #expect(try await !LMDBPlugin().inspect(store.configuration).exists)
    }
    #expect(moved == ["", "-2", "-3"].map { "\(store.path).damaged-today\($0)" })
    for (index, path) in moved.enumerated() {
      #expect(try FileManager.default.contentsOfDirectory(atPath: path).sorted() == ["data.mdb", "store.uses"])
      let use = try LMDBRegistry.shared.environment(at: path, mapSize: 1 << 20)
      let engine = LMDBEngine(use, durability: .relaxed, clock: FixedClock(now: .zero))
      #expect(try await engine.payload("cities/a") == [UInt8(index + 1)])
      try await engine.close()
    }
    let engine = try await store.open()
    #expect(try await engine.keys() == [])
    #expect(await code { _ = try await LMDBPlugin().removeStore(store.configuration, movingAside: ".x") } == .busy)
    try await engine.close()
    #expect(!FileManager.default.fileExists(atPath: store.path + ".x"))
    let missing = try TestStore()
    #expect(try await LMDBPlugin().removeStore(missing.configuration, movingAside: ".x") == [])
  }

  /// Then LMDB creates the data file.
  @Test func aStoreThatIsRemovedWhileItIsBeingOpenedIsStillOurs() async throws {
    let store = try TestStore()
    try FileManager.default.createDirectory(atPath: store.path, withIntermediateDirectories: true)
    let use = LMDBEnvironmentUse(try LMDBEnvironment(path: store.path, mapSize: 1 << 20))
    #expect(try LMDBDataFile(in: store.path)?.format == nil)
    let engine = LMDBEngine(use, durability: .relaxed, clock: FixedClock(now: .zero))
    try await engine.put("cities/a", [7])
    try await engine.close()
    let again = try await store.open()
    #expect(try await again.payload("cities/a") == [7])
    try await again.close()
  }

  /// Files of others stay where they are. A store without any readable part is moved, too.
  @Test func onlyWhatIsOursIsMoved() async throws {
    let store = try TestStore()
    try store.mark()
    let note = store.path + "/note.txt"
    try Data("mine".utf8).write(to: URL(fileURLWithPath: note))
    try Data("no store".utf8).write(to: URL(fileURLWithPath: store.dataFile))
    let moved = try await LMDBPlugin().removeStore(store.configuration, movingAside: ".damaged")
    #expect(moved == [store.path + ".damaged"])
    #expect(try Data(contentsOf: URL(fileURLWithPath: store.path + ".damaged/data.mdb")) == Data("no store".utf8))
    #expect(FileManager.default.fileExists(atPath: note))
    #expect(!FileManager.default.fileExists(atPath: store.dataFile))
  }
}
