internal import CSQLite
internal import EngineAPI
internal import Synchronization

/// A database behind a pool of reading connections and one writing connection.
///
/// Reads run on the calling thread. So do writes, unless they must wait for the disk, for another writer or for a
/// checkpoint; those run on a thread of the engine's own.
final class SQLiteEngine: StorageEngine {
  /// The most entries that a scan lists through the writer.
  private static let longestScanByWriter = 64

  private let options: SQLiteOptions
  private let clock: any WallClock
  private let readers = ResourcePool<SQLiteReader>()
  private let keeper = SnapshotKeeper()
  /// Created on first use; an error once the engine is closed.
  private let log = Mutex(Result<SQLiteLogIndex?, CacheError>.success(nil))
  private let store: SQLiteStore
  private let writes = BlockingExecutor()
  private let inspections = BlockingExecutor()

  /// Opens the store, and checks that it is a store of this engine.
  init(_ options: SQLiteOptions, clock: any WallClock) throws(CacheError) {
    self.options = options
    self.clock = clock
    store = SQLiteStore(options, keeper)
    keeper.add(readers)
    keeper.add(store)
    try withReader { _ in }
  }

  func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? {
    try key.text.withBytes { key throws(CacheError) in
      try read { reader throws(CacheError) in try reader.read(key, body) }
    }
  }

  func readNow(
    _ key: Span<UInt8>, _ body: (Span<UInt8>, EntryMetadata) throws(CacheError) -> Void
  ) throws(CacheError) -> Bool? {
    try key.withUnsafeBufferPointer { key throws(CacheError) in
      try read { reader throws(CacheError) in try reader.read(key, body) } != nil
    }
  }

  /// Reads through the connection that wrote last as long as that is worthwhile, and otherwise through any idle one.
  @inline(__always)
  private func read<Output: Sendable>(
    _ body: (SQLiteReader) throws(CacheError) -> Output
  ) throws(CacheError) -> Output {
    if let result = try store.withReader(body) { return result }
    return try withReader(body)
  }

  private func withReader<Output>(
    _ body: (SQLiteReader) throws(CacheError) -> Output
  ) throws(CacheError) -> Output {
    try readers.withResource(
      make: { () throws(CacheError) in try SQLiteReader(on: SQLiteReader.connect(options), keeper) }, body)
  }

  func apply(_ batch: WriteBatch) async throws(CacheError) {
    let needsCheckpoint: Bool
    if let done = try store.applyWithoutWaiting(batch) {
      needsCheckpoint = done
    } else {
      needsCheckpoint = try await writes.run { () throws(CacheError) in try self.store.apply(batch) }
    }
    guard needsCheckpoint else { return }
    // If copying the log fails, the batch is still committed: the next checkpoint tries again, and `close()` reports the
    // error if it is more than a lack of space.
    _ = try? await writes.run { () throws(CacheError) in try self.store.checkpoint() }
  }

  func scan(_ request: ScanRequest) async throws(CacheError) -> ScanPage {
    // An eviction lists a few entries right after a write. A longer scan would hold up the next write.
    if request.limit <= Self.longestScanByWriter, !request.includesPayloads {
      return try read { reader throws(CacheError) in try reader.scan(request) }
    }
    return try withReader { reader throws(CacheError) in
      let page = try reader.scan(request)
      try reader.releaseMemory()
      return page
    }
  }

  func count() async throws(CacheError) -> StoreCount {
    try await inspections.run { () throws(CacheError) in
      var count = try self.withReader { reader throws(CacheError) in try reader.count() }
      count.storageBytes = SQLiteFiles.storeSize(at: self.options.path)
      return count
    }
  }

  func changeCount() throws(CacheError) -> UInt64? {
    try log.withLock { log throws(CacheError) in
      if let known = try log.get() { return known.state?.count }
      let new = SQLiteLogIndex(of: try SQLiteReader.connect(options))
      log = .success(new)
      return new.state?.count
    }
  }

  func check() async throws(CacheError) -> [IntegrityIssue] {
    try await inspections.run { () throws(CacheError) in
      try self.withReader { reader throws(CacheError) in try reader.check() }
    }
  }

  func compact() async throws(CacheError) {
    let now = clock.now
    try await writes.run { () throws(CacheError) in
      _ = try self.store.perform { writer throws(CacheError) in
        self.keeper.endIdle()
        try writer.compact(at: now)
      }
    }
  }

  func close() async throws(CacheError) {
    readers.close()
    log.withLock { $0 = .failure(.storeClosed) }
    if store.closeWithoutWaiting() { return }
    try await writes.run { () throws(CacheError) in try self.store.close() }
  }
}
