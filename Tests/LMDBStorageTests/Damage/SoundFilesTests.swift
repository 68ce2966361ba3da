import Foundation
import StorageSPI
import Testing

@testable import LMDBStorage

/// What was found sound is not checked again, and whatever has been changed is.
@Suite struct SoundFilesTests {
  /// A registry by whose clock it is `seconds` later. With another one, it is as if another process opened the store.
  private func registry(_ seconds: Int = 60, smallestRecorded: Int = .max) -> LMDBRegistry {
    LMDBRegistry(now: { Int(Date().timeIntervalSince1970) + seconds }, smallestRecorded: smallestRecorded)
  }

  private func makeStore() async throws -> TestStore {
    let store = try TestStore()
    let engine = try await store.open()
    try await engine.put("movies/one", [UInt8](repeating: 1, count: 100))
    try await engine.close()
    return store
  }

  /// Opens and closes; returns the code of the error.
  private func open(_ store: TestStore, _ registry: LMDBRegistry) async -> CacheError.Code? {
    await code { _ = try registry.environment(at: store.path, mapSize: 1 << 20) }
  }

  /// Overwrites one byte of the file, in every page but the first two.
  private func damage(_ store: TestStore) throws {
    let file = try #require(FileHandle(forWritingAtPath: store.dataFile))
    for offset in stride(from: 2 * 4_096 + 10, to: try store.bytes.count, by: 4_096) {
      try file.seek(toOffset: UInt64(offset))
      try file.write(contentsOf: [0xFF])
    }
    try file.close()
  }

  @Test(arguments: [-60, 0, 60])
  func damageBetweenTwoOpeningsIsFound(seconds: Int) async throws {
    let (store, registry) = (try await makeStore(), registry(seconds))
    for _ in 0..<3 { #expect(await open(store, registry) == nil) }
    try damage(store)
    #expect(await open(store, registry) == .damaged)
    #expect(await open(store, registry) == .damaged)
  }

  @Test func aFileInItsPlaceIsCheckedAnew() async throws {
    let (store, other, registry) = (try await makeStore(), try await makeStore(), registry())
    #expect(await open(store, registry) == nil)
    try damage(other)
    #expect(rename(other.dataFile, store.dataFile) == 0)
    #expect(await open(store, registry) == .damaged)
  }

  @Test func aCommitBetweenTwoOpeningsIsSeen() async throws {
    let (store, registry) = (try await makeStore(), registry())
    #expect(await open(store, registry) == nil)
    let engine = try await store.open()
    try await engine.put("cities/two")
    try await engine.close()
    let use = try registry.environment(at: store.path, mapSize: 1 << 20)
    let reopened = LMDBEngine(use, durability: .relaxed, clock: FixedClock(now: .zero))
    #expect(try await reopened.payload("cities/two") == [1, 2, 3])
  }

  /// A registry that writes a record for every store of at least a kibibyte.
  private func process() -> LMDBRegistry { registry(smallestRecorded: 1_024) }

  private func hasRecord(_ store: TestStore) -> Bool {
    FileManager.default.fileExists(atPath: LMDBFile.record(in: store.path))
  }

  /// Damages the file again and again until its change time differs.
  private func damageLater(_ store: TestStore) throws {
    let changed = try #require(LMDBFile.status(store.dataFile)).st_ctim
    var now = changed
    while (now.tv_sec, now.tv_nsec) == (changed.tv_sec, changed.tv_nsec) {
      try damage(store)
      now = try #require(LMDBFile.status(store.dataFile)).st_ctim
    }
  }

  @Test func aProcessLeavesARecordForTheNext() async throws {
    let store = try await makeStore()
    #expect(!hasRecord(store), "the store is small")
    #expect(await open(store, process()) == nil)
    #expect(hasRecord(store))
    let (first, second) = (process(), process())
    do {
      let use = try first.environment(at: store.path, mapSize: 1 << 20)
      #expect(!hasRecord(store), "if this process crashes, the next one checks")
      withExtendedLifetime(use) {}
    }
    #expect(hasRecord(store))
    try damageLater(store)
    #expect(await open(store, second) == .damaged)
    #expect(await open(store, process()) == .damaged)
  }

  /// Damages the store, and leaves a record that says it is sound.
  private func damageAndRecord(_ store: TestStore) throws -> LMDBSoundRecord {
    let latest = try process().environment(at: store.path, mapSize: 1 << 20).environment.latestTransaction
    try damage(store)
    let state = LMDBSoundFiles.State(try #require(LMDBFile.status(store.dataFile)))
    let record = try #require(LMDBSoundRecord(state, transaction: latest, in: store.path))
    record.leave()
    return record
  }

  @Test func whatIsRecordedIsNotCheckedAgain() async throws {
    let store = try await makeStore()
    let record = try damageAndRecord(store)
    #expect(await open(store, process()) == nil)
    #expect(record.take(), "it was left again")
    #expect(!record.take(), "one process gets it")
    #expect(await open(store, process()) == .damaged)
  }

  @Test(arguments: ["another run of the kernel", "", "\n"])
  func aRecordOfAnotherStateIsNone(text: String) async throws {
    let store = try await makeStore()
    #expect(await open(store, process()) == nil)
    let path = LMDBFile.record(in: store.path)
    let record = try String(contentsOfFile: path, encoding: .utf8)
    try damage(store)
    let status = try #require(LMDBFile.status(store.dataFile))
    var fields = record.split(separator: " ").map(String.init)
    fields[4...5] = ["\(status.st_ctim.tv_sec)", "\(status.st_ctim.tv_nsec)"]
    fields[0] = text
    try fields.joined(separator: " ").write(toFile: path, atomically: false, encoding: .utf8)
    #expect(await open(store, process()) == .damaged)
  }

  /// A change without a transaction does not come from LMDB.
  @Test func whatAnotherProgramChangesInAnOpenStoreIsNotRecorded() async throws {
    let store = try await makeStore()
    #expect(await open(store, process()) == nil)
    do {
      let use = try process().environment(at: store.path, mapSize: 1 << 20)
      try damageLater(store)
      withExtendedLifetime(use) {}
    }
    #expect(!hasRecord(store))
    #expect(await open(store, process()) == .damaged)
  }

  /// A full check finds damage that the change time does not show. The process must not record such a store as sound.
  @Test func aProcessThatHasFoundDamageLeavesNoRecord() async throws {
    let store = try await makeStore()
    _ = try damageAndRecord(store)
    do {
      let use = try process().environment(at: store.path, mapSize: 1 << 20)
      #expect(try use.environment.integrityIssues().map(\.kind) == [.structure])
    }
    #expect(!hasRecord(store))
  }

  /// The state of a file, with the time of its last change given.
  private func state(_ seconds: Int, size: Int = 1) -> LMDBSoundFiles.State {
    var status = stat()
    (status.st_size, status.st_ctim.tv_sec) = (size, seconds)
    return LMDBSoundFiles.State(status)
  }

  @Test func onlyAFileAtRestIsNoted() {
    var files = LMDBSoundFiles()
    files.add(state(100), transaction: 7, checkedFrom: 102)
    #expect(!files.contains(state(100)))
    files.add(state(100), transaction: 7, checkedFrom: 103)
    #expect(files.contains(state(100)) && files.contains(state(100), transaction: 7))
    #expect(!files.contains(state(100), transaction: 8) && !files.contains(state(101)))
    #expect(!files.contains(state(100, size: 2)))
    files.add(state(101), transaction: 8, checkedFrom: 102)
    #expect(!files.contains(state(100)), "it has changed since")
  }
}
