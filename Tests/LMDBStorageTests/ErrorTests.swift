import CLMDB
import Foundation
import EngineAPI
import Testing

@testable import LMDBStorage

@Suite struct ErrorTests {
  static let meanings: [(status: Int32, code: CacheError.Code)] = [
    (MDB_CORRUPTED, .damaged), (MDB_INVALID, .damaged), (MDB_PAGE_NOTFOUND, .damaged), (MDB_PANIC, .damaged),
    (MDB_VERSION_MISMATCH, .unsupportedFormat), (MDB_MAP_FULL, .noSpace), (ENOSPC, .noSpace), (EFBIG, .noSpace),
    (EACCES, .permissionDenied), (EPERM, .permissionDenied), (EROFS, .permissionDenied),
    (MDB_BAD_VALSIZE, .tooLarge), (MDB_TXN_FULL, .tooLarge), (MDB_DBS_FULL, .tooLarge), (MDB_READERS_FULL, .busy),
    (EIO, .ioFailed), (ENOTDIR, .cannotCreate), (MDB_BAD_DBI, .failed),
  ]

  @Test(arguments: meanings) func everyStatusHasItsMeaning(status: Int32, code: CacheError.Code) {
    let error = CacheError.lmdb(status, "read", path: "/some/folder")
    #expect(error.code == code)
    #expect(error.message.contains("/some/folder") && !error.message.hasSuffix(".") && !error.message.contains("\n"))
    #expect(error.lmdbStatus == status)
    #expect([.failed, .damaged].contains(code) || !error.hint.isEmpty)
  }

  @Test(arguments: [MDB_RDONLY, MDB_RDONLY | MDB_NOLOCK]) func readOnlyStoreReadsAndRefusesToWrite(flags: Int32)
    async throws
  {
    let store = try TestStore()
    let writable = try await store.open()
    try await writable.put("cities/a", [1])
    try await writable.close()
    let before = try Data(contentsOf: URL(fileURLWithPath: store.dataFile))
    let environment = try LMDBEnvironment(path: store.path, mapSize: 1 << 20, attempts: [flags])
    let engine = LMDBEngine(LMDBEnvironmentUse(environment), durability: .normal, clock: FixedClock(now: .zero))
    #expect(try await engine.payload("cities/a") == [1])
    #expect(try await engine.payload("movies/a") == nil)
    #expect(try await engine.keys() == ["cities/a"])
    #expect(try await engine.check() == [])
    #expect(await code { try await engine.put("cities/b") } == .permissionDenied)
    #expect(await code { try await engine.compact() } == .permissionDenied)
    try await engine.close()
    #expect(try Data(contentsOf: URL(fileURLWithPath: store.dataFile)) == before)
  }

  @Test func damagedEntriesAreNamed() async throws {
    let store = try TestStore()
    let engine = try await store.open()
    try await engine.put("cities/fine")
    for (key, value) in [("cities/cut", [1, 0, 1]), ("cities/later", [2] + [UInt8](repeating: 0, count: 60))] {
      try Self.store(value, under: key, in: store)
    }
    #expect(await code { _ = try await engine.payload("cities/cut") } == .damaged)
    #expect(await code { _ = try await engine.payload("cities/later") } == .damaged)
    for (position, isDescending, key) in [(nil, false, "cut"), ("cities/fine", false, "later"), (nil, true, "later")] {
      do throws(CacheError) {
        _ = try await engine.scan(ScanRequest(after: position, isDescending: isDescending))
        Issue.record("the page has no damaged entry")
      } catch {
        #expect(error.code == .damaged && (error.cause as? UnreadableEntry)?.key.text == "cities/" + key)
      }
    }
    #expect(try await engine.payload("cities/fine") == [1, 2, 3])
    let issues = try await engine.check()
    #expect(issues.map(\.key?.text) == ["cities/cut", "cities/later"])
    #expect(issues.map(\.kind) == [.undecodable, .undecodable])
    try await engine.remove("cities/cut")
    try await engine.put("cities/later")
    #expect(try await engine.check() == [])
    try await engine.close()
  }

  /// A walk continues behind each damaged entry, and finds all others.
  @Test(arguments: [1, 2, 3, 100], [false, true])
  func aPageEndsBeforeADamagedEntry(limit: Int, isDescending: Bool) async throws {
    let store = try TestStore()
    let engine = try await store.open()
    let long = "cities/" + String(repeating: "l", count: 600)
    let keys = ["cities/a", "cities/c", "cities/d", "cities/f", long, "movies/a"]
    for key in keys { try await engine.put(key) }
    for key in ["cities/b", "cities/e", "cities/g"] { try Self.store([9, 9], under: key, in: store) }
    var (found, damaged) = ([String](), [String]())
    var request = ScanRequest(limit: limit, isDescending: isDescending)
    while true {
      do throws(CacheError) {
        let page = try await engine.scan(request)
        found += page.entries.map(\.key.text)
        request.position = page.next
        if page.next == nil { break }
      } catch {
        let key = try #require((error.cause as? UnreadableEntry)?.key.text)
        damaged.append(key)
        request.position = key
      }
    }
    #expect((isDescending ? found.reversed() : found) == keys)
    #expect(damaged.sorted() == ["cities/b", "cities/e", "cities/g"])
    try await engine.close()
  }

  /// Stores bytes that are not an entry, as a defect or another program might.
  static func store(_ value: [UInt8], under key: String, in store: TestStore) throws {
    try store.write { transaction in
      let cities = try #require(try transaction.openDatabase("cities"))
      let cursor = try transaction.openCursor(on: cities)
      try Array(key.utf8).withUnsafeBytes { try cursor.reserve($0, count: value.count) { _ in }.copyBytes(from: value) }
    }
  }
}
