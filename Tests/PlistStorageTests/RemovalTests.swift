import Foundation
import StorageSPI
import Testing

@testable import PlistStorage

/// A store that is removed, or moved aside, leaves an empty one, and what belongs to someone else.
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
    try folder.write("{", to: "b.json")
    try folder.write("cachectl plist batch 1\nreplace c\nremove a\nend\n", to: "batch.journal")
    try folder.write("mine", to: "notes.txt")
    return folder
  }

  @Test func whereNothingIsNothingIsDone() async throws {
    let folder = try TemporaryFolder()
    #expect(try await remove(folder).isEmpty)
    #expect(try await remove(folder, movingAside: ".damaged").isEmpty)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }

  @Test func allFilesOfTheStoreAreDeleted() async throws {
    let folder = try await damagedStore()
    let engine = try await folder.open()
    #expect(try await remove(folder).isEmpty)
    #expect(try folder.names() == ["notes.txt", "store.lock"])
    #expect(try await engine.contents().isEmpty)
    #expect(try await engine.checkIntegrity().isEmpty)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["store"])
  }

  @Test(arguments: ["a.json", "a.json.new", "batch.journal", "store.lock"])
  func aFolderInThePlaceOfAFileIsMovedAside(name: String) async throws {
    let folder = try TemporaryFolder()
    try await folder.open().put(["a/1": "x"])
    if try folder.names().contains(name) { try FileManager.default.removeItem(atPath: folder.file(name)) }
    try folder.makeFolder(name)
    try folder.write("precious", to: name + "/note")
    _ = try await remove(folder)
    #expect(try folder.text(name + ".aside/note") == "precious")
    try await folder.open().put(["a/7": "x", "c/1": "x"])
    #expect(try await folder.open().checkIntegrity() == [])
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
    #expect(try await moved.text("a/1") == nil, "the batch is finished there")
    #expect(try await moved.text("c/1") == "z")
    #expect(await code { _ = try await moved.text("b/1") } == .damaged)
    #expect(try await engine.contents() == ["a/1": "next"])
  }

  @Test func aMoveWithoutRoomLeavesTheStoreAndNoFolder() async throws {
    let folder = try await damagedStore()
    let names = try folder.names()
    let full = FaultyFileSystem(.rule { call, _ in call == "write" ? ENOSPC : nil })
    let removal = PlistRemoval(PlistOptions(path: folder.store), movingAside: ".damaged", fileSystem: full)
    #expect(await code { _ = try removal.run() } == .noSpace)
    #expect(try folder.names() == names)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["store"])
  }

  @Test(
    arguments: [nil, ".damaged"],
    [
      ("a.json", #"{"format": 2, "namespace": "a", "things": 1}"#),
      ("batch.journal", "cachectl plist batch 2\nx\nend\n"),
    ])
  func aStoreOfALaterVersionStays(suffix: String?, file: (name: String, content: String)) async throws {
    let folder = try TemporaryFolder()
    try await folder.open().put(["a/1": "x", "b/1": "y"])
    try folder.write("{", to: "b.json")
    try folder.write(file.content, to: file.name)
    let names = try folder.names()
    #expect(await code { _ = try await folder.open().checkIntegrity() } == .unsupportedFormat)
    #expect(await code { _ = try await remove(folder, movingAside: suffix) } == .unsupportedFormat)
    #expect(try folder.names() == names)
    #expect(try folder.text(file.name) == file.content)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["store"])
  }

  private func moveAside(_ folder: TemporaryFolder, _ fault: FaultyFileSystem.Fault) throws(CacheError) {
    let removal = PlistRemoval(
      PlistOptions(path: folder.store), movingAside: ".damaged", fileSystem: FaultyFileSystem(fault))
    _ = try removal.run()
  }

  @Test func aMoveThatFailsMovesNothing() async throws {
    let folder = try await damagedStore()
    let fault = FaultyFileSystem.Fault.rule { call, path in
      call == "rename" && path.hasSuffix(".damaged/c.json") ? EIO : nil
    }
    #expect(await code { try moveAside(folder, fault) } == .ioFailed)
    #expect(try folder.names() == ["b.json", "c.json", "notes.txt", "store.lock"])
    #expect(try await folder.open().text("c/1") == "z")
  }

  @Test func aMoveThatIsCutShortLosesNoBatch() async throws {
    var number = 0
    var isDone = false
    while !isDone {
      number += 1
      let folder = try TemporaryFolder()
      try await folder.open().put(["c/1": "new"])
      try FileManager.default.moveItem(atPath: folder.file("c.json"), toPath: folder.file("c.json.new"))
      try folder.write("cachectl plist batch 1\nreplace c\nend\n", to: "batch.journal")
      isDone = (try? moveAside(folder, .death(at: number))) != nil
      var found: [String] = []
      for path in [folder.store, folder.store + ".damaged"] {
        let engine = try await PlistEngine.open(PlistOptions(path: path), clock: FixedClock(now: .distantFuture))
        if let text = try await engine.text("c/1") { found.append(text) }
      }
      #expect(found == ["new"], "died at the call \(number)")
    }
    #expect(number > 10)
  }

  @Test(arguments: [nil, ".damaged"]) func aStoreInUseIsBusy(suffix: String?) async throws {
    let folder = try await damagedStore()
    let names = try folder.names()
    let file = try SystemFileSystem().open(folder.file("store.lock"), flags: O_RDONLY)
    #expect(try SystemFileSystem().lock(file, exclusively: false))
    #expect(await code { _ = try await remove(folder, movingAside: suffix) } == .busy)
    #expect(try folder.names() == names)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["store"])
    SystemFileSystem().unlock(file)
  }
}
