import EngineAPI
import Foundation
import CacheBase
import Testing

@testable import LMDBStorage

/// A store is removed in whatever state it is, but not while it is open.
@Suite struct RemovalTests {
  /// It belongs to someone else, and without the lock file nobody can tell whether the store is open.
  @Test(arguments: [nil, ".damaged-today"])
  func aDirectoryInThePlaceOfTheLockFileIsDamageThatTheUserMovesAway(suffix: String?) async throws {
    let store = try TestStore()
    try await store.open().close()
    let path = store.path + "/lock.mdb"
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    let errors = [
      await #expect(throws: CacheError.self) { try await store.open() },
      await #expect(throws: CacheError.self) {
        try await LMDBPlugin().removeStore(try store.configuration, movingAside: suffix)
      },
    ]
    #expect(errors.map(\.?.code) == [.damaged, .damaged])
    #expect(errors.allSatisfy { $0?.hint == "something else is in the place of a file of the store: move it away" })
    #expect(FileManager.default.fileExists(atPath: store.dataFile) && FileManager.default.fileExists(atPath: path))
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

  /// The other process has emptied the lock file, and this one waits for the lock on it.
  @Test func aStoreThatIsRemovedWhileItIsBeingOpenedIsNotDamaged() async throws {
    let store = try await DamageTests.makeStore()
    let process = try NativeToolTests.open(store)
    #expect(truncate(LMDBFiles(store.path).lock, 0) == 0)
    #expect(await code { _ = try await store.open() } == .busy)
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    try await store.open().close()
  }

  @Test func aLinkInThePlaceOfTheLockFileIsNotFollowed() async throws {
    let store = try TestStore()
    let file = store.folder + "/empty"
    try FileManager.default.createDirectory(atPath: store.path, withIntermediateDirectories: true)
    try Data().write(to: URL(fileURLWithPath: file))
    try FileManager.default.createSymbolicLink(atPath: LMDBFiles(store.path).lock, withDestinationPath: file)
    #expect(await code { _ = try await store.open() } == .cannotCreate)
    #expect(try Data(contentsOf: URL(fileURLWithPath: file)).isEmpty)
  }

  /// Files of others stay in place. A store without any readable part is moved, too.
  @Test func onlyOurOwnFilesAreMoved() async throws {
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

  /// A process that was killed after any step of a creation: of the directory, the mark, a draft, or the data file.
  @Test(arguments: 1...4) func aCreationThatWasKilledIsFinishedByTheNextOne(steps: Int) async throws {
    let store = try TestStore()
    let draft = store.path + "/store.draft"
    if steps == 1 { try FileManager.default.createDirectory(atPath: store.path, withIntermediateDirectories: true) }
    if steps > 1 { try store.mark() }
    if steps > 2 { try Data("unfinished".utf8).write(to: URL(fileURLWithPath: draft)) }
    if steps > 3 {
      try await store.open().close()
      try FileManager.default.linkItem(atPath: store.dataFile, toPath: draft)
    }
    let engine = try await store.open()
    try await engine.put("cities/a", [7])
    #expect(try await engine.payload("cities/a") == [7])
    try await engine.close()
    if steps < 4 { #expect(!FileManager.default.fileExists(atPath: draft)) }
  }

  /// The draft is a second name of the file, even if the file was moved.
  @Test(arguments: [nil, ".damaged"]) func theDraftOfAKilledCreationIsRemovedWithTheStore(suffix: String?) async throws
  {
    let store = try TestStore()
    let engine = try await store.open()
    try await engine.put("cities/a", [7])
    try await engine.close()
    try FileManager.default.linkItem(atPath: store.dataFile, toPath: store.path + "/store.draft")
    let moved = try await LMDBPlugin().removeStore(store.configuration, movingAside: suffix)
    #expect(try FileManager.default.contentsOfDirectory(atPath: store.path) == ["lock.mdb"])
    try await store.open().close()
    for path in moved {
      let use = try LMDBRegistry.shared.environment(at: path, mapSize: 1 << 20)
      let engine = LMDBEngine(use, durability: .relaxed, clock: FixedClock(now: .zero))
      #expect(try await engine.payload("cities/a") == [7])
      try await engine.close()
    }
  }

  /// A process that was killed before it removed the mark.
  @Test func aMarkWithoutAStoreIsRemoved() async throws {
    let store = try TestStore()
    try store.mark()
    #expect(try await LMDBPlugin().removeStore(store.configuration, movingAside: ".damaged") == [])
    #expect(StoreMark(inFolder: store.path).isPresent)
    #expect(try await LMDBPlugin().removeStore(store.configuration, movingAside: nil) == [])
    #expect(!StoreMark(inFolder: store.path).isPresent)
  }

  /// The mark is the table of uses, and they stay with their store.
  @Test func theUsesAreMovedAsideWithTheStore() async throws {
    let store = try TestStore()
    try await store.open().close()
    let mark = StoreMark(inFolder: store.path).path
    let uses = try Data(contentsOf: URL(fileURLWithPath: mark)) + Data("uses".utf8)
    try uses.write(to: URL(fileURLWithPath: mark))
    let moved = try await LMDBPlugin().removeStore(store.configuration, movingAside: ".damaged")
    let aside = StoreMark(inFolder: try #require(moved.first)).path
    #expect(try Data(contentsOf: URL(fileURLWithPath: aside)) == uses)
  }
}
