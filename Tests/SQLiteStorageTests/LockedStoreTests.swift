import EngineAPI
import Synchronization
import Testing

@testable import SQLiteStorage

/// A store on which another program has a write transaction open.
@Suite struct LockedStoreTests {
  @Test func onlyTheFirstOfSeveralWritesWaits() async throws {
    let folder = try TestFolder()
    try await folder.open().close()
    let time = Mutex(Duration.zero)
    let store = SQLiteStore(
      try folder.options(busyTimeout: 20), SnapshotKeeper(), now: { time.withLock { $0 } })
    let other = try OtherConnection(folder.store)
    func isBusy() throws -> Bool {
      var batch = WriteBatch()
      batch.put(try CacheKey("a/1"), payload: [1], metadata: .sample())
      do throws(CacheError) { _ = try store.apply(batch) } catch { return error.code == .busy }
      return false
    }
    func patience() throws -> Int64 {
      var found: Int64 = -1
      _ = try store.perform { writer throws(CacheError) in
        found = try writer.connection.integer("PRAGMA busy_timeout")
      }
      return found
    }
    #expect(try patience() == 20)
    try other.execute("BEGIN IMMEDIATE")
    #expect(try isBusy())
    try other.execute("COMMIT")
    #expect(try patience() < 20, "the call before has waited without success")
    #expect(try patience() == 20, "a call has succeeded")
    try other.execute("BEGIN IMMEDIATE")
    #expect(try isBusy())
    time.withLock { $0 = .milliseconds(20) }
    try other.execute("COMMIT")
    #expect(try patience() == 20, "that was long ago")
    try store.close()
  }
}
