import EngineAPI
import Foundation
import Testing

@testable import PlistStorage

/// A store that is removed, or moved aside, leaves an empty one, and the files of others.
@Suite struct RemovalTests {
  private func remove(_ folder: TemporaryFolder, movingAside suffix: String? = nil) async throws -> [String] {
    let plugin = PlistPlugin()
    // A slash at the end of the path is not part of the folder's name.
    let configuration = try EngineConfiguration(
      for: plugin.declaration, values: ["path": .text(folder.store + "/"), "busyTimeout": .integer(0)],
      clock: FixedClock(now: .distantFuture))
    return try await plugin.removeStore(configuration, movingAside: suffix)
  }

  /// A store with a damaged file, an unfinished batch, and a file of someone else.
  private func damagedStore() async throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    try await folder.open().put(["a/1": "x", "b/1": "y", "c/1": "z"])
    try folder.write(try folder.bytes("c.json"), to: "c.json.new")
    try folder.write("{\"format\": 1, \"namespace\": \"a\", \"entries\": {}}", to: "a.json.new")
    try folder.write("{", to: "b.json")
    try folder.write("", to: "store.commit")
    try folder.write("mine", to: "notes.txt")
    return folder
  }

  @Test func allFilesOfTheStoreAreDeleted() async throws {
    let folder = try await damagedStore()
    let engine = try await folder.open()
    #expect(try await remove(folder).isEmpty)
    #expect(try folder.names() == ["notes.txt", "store.lock"])
    #expect(try await engine.contents().isEmpty)
    #expect(try await engine.check().isEmpty)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["store"])
  }

  @Test(arguments: ["a.json", "a.json.new"])
  func aFolderInThePlaceOfAFileIsMovedAside(name: String) async throws {
    let folder = try TemporaryFolder()
    try await folder.open().put(["a/1": "x"])
    if try folder.names().contains(name) { try FileManager.default.removeItem(atPath: folder.file(name)) }
    try folder.makeFolder(name)
    try folder.write("precious", to: name + "/note")
    _ = try await remove(folder)
    #expect(try folder.text(name + ".aside/note") == "precious")
    try await folder.open().put(["a/7": "x", "c/1": "x"])
    #expect(try await folder.open().check() == [])
  }

  @Test func theStoreIsMovedAsideAndCanBeOpenedThere() async throws {
    let folder = try await damagedStore()
    let engine = try await folder.open()
    for number in ["", "-2", "-3"] {
      let path = folder.store + ".damaged" + number
      #expect(try await remove(folder, movingAside: ".damaged") == [path])
      #expect(try folder.names() == ["notes.txt", "store.lock"])
      #expect(try await engine.contents().isEmpty)
      try await engine.put(["a/1": "next"])
    }
    let moved = try await PlistEngine.open(
      PlistOptions(path: folder.store + ".damaged"), clock: FixedClock(now: .distantFuture))
    #expect(try await moved.text("a/1") == nil, "the commit is finished there")
    #expect(try await moved.text("c/1") == "z")
    #expect(await code { _ = try await moved.text("b/1") } == .damaged)
    #expect(try await engine.contents() == ["a/1": "next"])
  }

  private func moveAside(_ folder: TemporaryFolder, _ system: FaultySystem) throws(CacheError) {
    _ = try PlistFolder(PlistOptions(path: folder.store), system.calls).removeStore(movingAside: ".damaged")
  }

  @Test func aMoveWithoutRoomLeavesTheStoreAndNoFolder() async throws {
    let folder = try await damagedStore()
    let system = FaultySystem(.rule { call, _ in call == "write" ? ENOSPC : nil })
    #expect(await code { try moveAside(folder, system) } == .noSpace)
    #expect(try folder.names() == ["a.json", "b.json", "c.json", "notes.txt", "store.lock"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["store"])
  }

  @Test(arguments: [nil, ".damaged"]) func aStoreOfALaterVersionStays(suffix: String?) async throws {
    let folder = try TemporaryFolder()
    try await folder.open().put(["a/1": "x", "b/1": "y"])
    try folder.write("{", to: "b.json")
    let later = #"{"format": 2, "namespace": "a", "things": 1}"#
    try folder.write(later, to: "a.json")
    let names = try folder.names()
    #expect(await code { _ = try await folder.open().check() } == .unsupportedFormat)
    #expect(await code { _ = try await remove(folder, movingAside: suffix) } == .unsupportedFormat)
    #expect(try folder.names() == names)
    #expect(try folder.text("a.json") == later)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["store"])
  }

  /// Whichever call fails, and whether the process dies of it, each entry is in one of the two stores, and in one alone.
  @Test(arguments: [true, false]) func aMoveThatFailsLosesNothing(isDeath: Bool) async throws {
    var number = 0
    var calls = 0
    repeat {
      number += 1
      let folder = try TemporaryFolder()
      try await folder.open().put(["a/1": "kept", "b/1": "kept", "c/1": "new"])
      for name in ["b.json", "c.json"] {
        try FileManager.default.moveItem(atPath: folder.file(name), toPath: folder.file(name + ".new"))
      }
      try folder.write("", to: "store.commit")
      let system = FaultySystem(isDeath ? .death(at: number) : .once(at: number, errno: EIO))
      _ = try? moveAside(folder, system)
      calls = system.trace.count
      var found: [String] = []
      for path in [folder.store, folder.store + ".damaged"] {
        let engine = try await PlistEngine.open(PlistOptions(path: path), clock: FixedClock(now: .distantFuture))
        found += try await engine.contents().map { "\($0) \($1)" }
      }
      #expect(found.sorted() == ["a/1 kept", "b/1 kept", "c/1 new"], "failed at the call \(number)")
    } while number <= calls
    #expect(number > 10)
  }

  @Test(arguments: [nil, ".damaged"]) func aStoreInUseIsBusy(suffix: String?) async throws {
    let folder = try await damagedStore()
    let names = try folder.names()
    let file = try #require(try StoreFiles().open(folder.file("store.lock"), O_RDONLY))
    #expect(try StoreFiles().lock(file, exclusively: false))
    #expect(await code { _ = try await remove(folder, movingAside: suffix) } == .busy)
    #expect(try folder.names() == names)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["store"])
    StoreFiles().unlock(file)
  }
}
