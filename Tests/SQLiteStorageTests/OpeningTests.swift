import EngineAPI
import Foundation
import CacheBase
import Testing

@testable import SQLiteStorage

/// The possible files at the path, and the engine's treatment of each.
@Suite struct OpeningTests {
  @Test(
    arguments: [
      ("CREATE TABLE notes (text); INSERT INTO notes VALUES ('mine')", "cannotCreate", "another application"),
      ("PRAGMA application_id = 5; CREATE TABLE entries (key)", "cannotCreate", "application_id 5"),
      ("PRAGMA journal_mode = WAL; CREATE TABLE notes (text)", "cannotCreate", "another application"),
      (
        "PRAGMA application_id = 0x43614368; PRAGMA user_version = 4; CREATE TABLE a (b)", "unsupportedFormat",
        "version 4"
      ),
      ("PRAGMA application_id = 0x43614368; PRAGMA user_version = 1; CREATE TABLE a (b)", "damaged", "no such table"),
      ("PRAGMA application_id = 0x43614368; CREATE TABLE a (b)", "damaged", "marks are damaged"),
    ], [true, false])
  func otherDatabasesAreRefusedAndNotAltered(
    database: (String, String, String), hasMark: Bool
  ) async throws {
    let (sql, expected, words) = database
    let folder = try TestFolder()
    try OtherConnection(folder.store).execute(sql)
    for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: folder.store + suffix) }
    if hasMark { try StoreMark(ofFile: folder.store).create() }
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    let before = try Data(contentsOf: URL(fileURLWithPath: folder.store))
    let error = await #expect(throws: CacheError.self) { _ = try await folder.open() }
    #expect(error?.code.rawValue == expected)
    #expect(error?.message.contains(words) == true && error?.message.contains(folder.store) == true, "\(error as Any)")
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder.store)) == before)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == names)
  }

  /// A flipped byte in the header of a store with the mark next to it is damage.
  @Test(arguments: [(0, 7), (63, 0), (60, 0xFF), (68, 0), (71, 0x69)] as [(Int, UInt8)], [true, false])
  func damagedMarksAreDamage(byte: (Int, UInt8), hasMark: Bool) async throws {
    let (place, value) = byte
    let folder = try TestFolder()
    try await folder.open().close()
    if !hasMark { StoreMark(ofFile: folder.store).remove() }
    var content = try Data(contentsOf: URL(fileURLWithPath: folder.store))
    content[place] = value
    try content.write(to: URL(fileURLWithPath: folder.store))
    let found = try await code { try await folder.open().close() }
    #expect(found == (place == 0 && !hasMark ? .cannotCreate : .damaged))
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder.store)) == content)
  }

  /// A process that died while it made a store of an empty file has left its draft.
  @Test func anInterruptedCreationInAnEmptyFileIsRepeated() async throws {
    let folder = try TestFolder()
    try Data().write(to: URL(fileURLWithPath: folder.store))
    try StoreMark(ofFile: folder.store).create()
    try Data("half".utf8).write(to: URL(fileURLWithPath: folder.store + "-new"))
    try await folder.open().close()
    #expect(!FileManager.default.fileExists(atPath: folder.store + "-new"))
  }

  /// The names of the files that a new store needs may belong to someone else.
  @Test(arguments: ["-new", "-wal", "-shm", "-journal", ".uses"])
  func aFileWithTheNameOfOneThatTheStoreNeedsIsNotAltered(suffix: String) async throws {
    let folder = try TestFolder()
    let file = URL(fileURLWithPath: folder.store + suffix)
    try Data("mine".utf8).write(to: file)
    let error = await #expect(throws: CacheError.self) { _ = try await folder.open() }
    #expect(error?.code == .cannotCreate && error?.message.contains(file.path) == true, "\(error as Any)")
    #expect(try Data(contentsOf: file) == Data("mine".utf8))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [file.lastPathComponent])
  }

  @Test(arguments: ["with space?%#é.sqlite", ":memory:", "file:x?mode=memory"])
  func anyNameIsTheNameOfAFile(name: String) async throws {
    let folder = try TestFolder()
    let path = folder.path + "/" + name
    let engine = try await folder.open(at: path)
    try await engine.put("cities/a", [1])
    try await engine.close()
    #expect(FileManager.default.fileExists(atPath: path))
    let immutable = try SQLiteConnection(path: path, flags: 1, busyTimeout: 0, immutable: true)
    #expect(try immutable.integer("SELECT count(*) FROM entries") == 1)
  }

  @Test func aLogLeftOverFromARemovedStoreIsNotTakenForTheNewOnes() async throws {
    let folder = try TestFolder()
    let first = try await folder.open()
    try await first.put("cities/a", [1])
    try FileManager.default.copyItem(atPath: folder.store + "-wal", toPath: folder.path + "/log")
    try await first.close()
    try FileManager.default.removeItem(atPath: folder.store)
    try FileManager.default.removeItem(atPath: folder.store + "-wal")
    try FileManager.default.moveItem(atPath: folder.path + "/log", toPath: folder.store + "-wal")
    let second = try await folder.open()
    #expect(try await second.payload("cities/a") == nil)
    try await second.close()
  }

  /// The obstacle to the log's index may disappear later: so no reader may treat the file as immutable because of it.
  @Test func aStoreThatCanBeChangedIsNotReadAsOneThatCannot() async throws {
    let folder = try TestFolder()
    try await folder.open().close()
    let index = folder.store + "-shm"
    try? FileManager.default.removeItem(atPath: index)
    try FileManager.default.createSymbolicLink(atPath: index, withDestinationPath: folder.path + "/none")
    let early = try? await folder.open()
    #expect(early == nil)
    try FileManager.default.removeItem(atPath: index)
    let other = try await folder.open()
    try await other.put("cities/a", [1])
    if let early { #expect(try await early.payload("cities/a") == [1]) }
    #expect(try await folder.open().payload("cities/a") == [1])
    try await other.close()
  }

  /// SQLite opens for reading only if it cannot write to the files at that moment.
  @Test(arguments: ["", "-wal"])
  func aRefusalToWriteHoldsNoLongerThanItsReason(refused: String) async throws {
    let folder = try TestFolder()
    let engine = try await folder.open()
    try await engine.put("cities/a", [1])
    chmod(folder.path, 0o777)
    for suffix in ["", "-wal", "-shm"] { chmod(folder.store + suffix, suffix == refused ? 0o444 : 0o666) }
    let store = SQLiteStore(try folder.options(), SnapshotKeeper())
    let key = try CacheKey("cities/b")
    var batch = WriteBatch()
    batch.put(key, payload: [2], metadata: .sample())
    let change = batch
    let write = { () throws(CacheError) in
      _ = try store.perform { writer throws(CacheError) in try writer.apply(change) }
    }
    let error = try withoutPrivileges { #expect(throws: CacheError.self) { try write() } }
    #expect(error?.code == .permissionDenied)
    chmod(folder.store + refused, 0o666)
    try write()
    try store.close()
    #expect(try await engine.payload("cities/b") == [2])
    try await engine.close()
  }

  @Test(arguments: zip(Durability.allCases, [2, 1, 0]))
  func durabilityIsReallySet(durability: Durability, synchronous: Int64) async throws {
    let folder = try TestFolder()
    try await folder.open(durability: durability).close()
    let writer = try SQLiteWriter(folder.options(durability: durability), busyTimeout: 0)
    #expect(try writer.connection.integer("PRAGMA synchronous") == synchronous)
  }
}
