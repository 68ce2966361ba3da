import CLMDB
import EngineSupport
import Foundation
import StorageSPI
import Testing

@testable import LMDBStorage

@Suite struct ErrorTests {
  static let meanings: [(status: Int32, code: CacheError.Code)] = [
    (MDB_CORRUPTED, .damaged), (MDB_INVALID, .damaged), (MDB_PAGE_NOTFOUND, .damaged), (MDB_PANIC, .damaged),
    (MDB_VERSION_MISMATCH, .unsupportedFormat), (MDB_MAP_FULL, .noSpace), (ENOSPC, .noSpace), (EFBIG, .noSpace),
    (EACCES, .permissionDenied), (EPERM, .permissionDenied), (EROFS, .permissionDenied),
    (MDB_BAD_VALSIZE, .tooLarge), (MDB_TXN_FULL, .tooLarge), (MDB_DBS_FULL, .tooLarge), (MDB_READERS_FULL, .busy),
    (EIO, .ioFailed), (ENOTDIR, .ioFailed), (MDB_BAD_DBI, .failed),
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
    try environment.openMainDatabase()
    let engine = LMDBEngine(LMDBEnvironmentUse(environment), durability: .normal, clock: FixedClock(now: .zero))
    #expect(try await engine.payload("cities/a") == [1])
    #expect(try await engine.payload("movies/a") == nil)
    #expect(try await engine.keys() == ["cities/a"])
    #expect(try await engine.checkIntegrity() == [])
    #expect(await code { try await engine.put("cities/b") } == .permissionDenied)
    #expect(await code { try await engine.compact() } == .permissionDenied)
    try await engine.close()
    #expect(try Data(contentsOf: URL(fileURLWithPath: store.dataFile)) == before)
  }

  @Test func damagedEntriesAreNamed() async throws {
    let store = try TestStore()
    let use = try LMDBRegistry.shared.environment(at: store.path, mapSize: 1 << 20)
    let engine = LMDBEngine(use, durability: .relaxed, clock: FixedClock(now: .zero))
    try await engine.put("cities/fine")
    for (key, value) in [("cities/cut", [1, 0, 1]), ("cities/later", [2] + [UInt8](repeating: 0, count: 60))] {
      try Self.store(value, under: key, in: use.environment)
    }
    #expect(await code { _ = try await engine.payload("cities/cut") } == .damaged)
    #expect(await code { _ = try await engine.payload("cities/later") } == .damaged)
    #expect(await code { _ = try await engine.keys() } == .damaged)
    #expect(try await engine.payload("cities/fine") == [1, 2, 3])
    let issues = try await engine.checkIntegrity()
    #expect(issues.map(\.key?.text) == ["cities/cut", "cities/later"])
    #expect(issues.map(\.kind) == [.undecodable, .undecodable])
    try await engine.remove("cities/cut")
    try await engine.put("cities/later")
    #expect(try await engine.checkIntegrity() == [])
    try await engine.close()
  }

  /// Stores bytes that are no entry, as a defect or another program might.
  private static func store(_ value: [UInt8], under key: String, in environment: LMDBEnvironment) throws {
    environment.gate.enter()
    defer { environment.gate.leave() }
    let transaction = try environment.beginWriting(.relaxed)
    let database = try #require(environment.knownDatabases.first { $0.namespace.name == "cities" })
    try Array(key.utf8).withUnsafeBytes { key in
      try transaction.reserve(key, count: value.count, in: database.handle).copyBytes(from: value)
    }
    try transaction.commit()
  }
}
