import Foundation
import StorageSPI
import Testing

@testable import LMDBStorage

/// What was found sound is not checked again, and whatever has been changed is.
@Suite struct SoundFilesTests {
  /// A registry by whose clock it is `seconds` later.
  private func registry(_ seconds: Int = 60) -> LMDBRegistry {
    LMDBRegistry { Int(Date().timeIntervalSince1970) + seconds }
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
