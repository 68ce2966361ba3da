internal import CSQLite
internal import EngineSupport
internal import StorageSPI
internal import Synchronization

/// A database behind a pool of reading connections and one writing connection.
///
/// Reads run on the calling thread. So do writes, unless they must wait for the disk, for another writer or for a
/// checkpoint; those run on a thread of the engine's own.
final class SQLiteEngine: ImmediateReading, ChangeCounting {
  private struct Counting {
    /// Created on first use.
    var counter: SQLiteChangeCounter?
    var isClosed = false
  }

  /// The most entries that a scan lists through the writer.
  private static let longestScanByWriter = 64

  private let options: SQLiteOptions
  private let clock: any WallClock
  private let readers = ResourcePool<SQLiteReader>()
  private let keeper = SnapshotKeeper()
  private let counting = Mutex(Counting())
  private let writing: SQLiteWriting
  /// Tells the keeper about the writer. The writer is always idle in this pool; it checks for itself whether it is in
  /// use.
  private let writers = ResourcePool<SQLiteWriting>()
  private let writes = BlockingExecutor()
  private let inspections = BlockingExecutor()

  /// Opens the store, and checks that it is a store of this engine.
  init(_ options: SQLiteOptions, clock: any WallClock) throws(CacheError) {
    self.options = options
    self.clock = clock
    let writing = SQLiteWriting(options, keeper)
    self.writing = writing
    keeper.add(readers)
    keeper.add(writers)
    try writers.withResource(make: { writing }) { _ in }
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
    keyBytes: Span<UInt8>, _ body: (Span<UInt8>, EntryMetadata) throws(CacheError) -> Void
  ) throws(CacheError) -> Bool {
    try keyBytes.withUnsafeBufferPointer { key throws(CacheError) in
      try read { reader throws(CacheError) in try reader.read(key, body) } != nil
    }
  }

  /// Reads through the connection that wrote last as long as that is worthwhile, and otherwise through any idle one.
  @inline(__always)
  private func read<Output: Sendable>(
    _ body: (SQLiteReader) throws(CacheError) -> Output
  ) throws(CacheError) -> Output {
    if writing.isWorthReading, let result = try writing.withReader(body) { return result }
    return try withReader(body)
  }

  func changeCount() throws(CacheError) -> UInt64? {
    try counting.withLock { counting throws(CacheError) in
      if counting.isClosed { throw .storeClosed }
      if let counter = counting.counter { return counter.count }
      let counter = try SQLiteChangeCounter(options)
      counting.counter = counter
      return counter.count
    }
  }

  func apply(_ batch: WriteBatch) async throws(CacheError) {
    let needsCheckpoint: Bool
    if let done = try writing.applyWithoutWaiting(batch) {
      needsCheckpoint = done
    } else {
      needsCheckpoint = try await writes.run { () throws(CacheError) in
        try self.writing.apply(batch)
      }
    }
    guard needsCheckpoint else { return }
    // If copying the log fails, the batch is still committed: the next checkpoint tries again, and `close()` reports the
    // error if it is more than a lack of space.
    _ = try? await writes.run { () throws(CacheError) in try self.writing.checkpoint() }
  }

  func scan(_ range: KeyRange, limit: Int) async throws(CacheError) -> [EntrySummary] {
    // A long scan would hold up the next write.
    let list = { (reader: SQLiteReader) throws(CacheError) in try reader.scan(range, limit: limit) }
    return try limit > Self.longestScanByWriter ? withReader(list) : read(list)
  }

  func statistics() async throws(CacheError) -> StorageStatistics {
    try await inspections.run { () throws(CacheError) in
      let tally = try self.withReader { reader throws(CacheError) in try reader.tally() }
      return StorageStatistics(tally: tally, storageBytes: SQLiteFiles.storeSize(at: self.options.path))
    }
  }

  func checkIntegrity() async throws(CacheError) -> [IntegrityIssue] {
    try await inspections.run { () throws(CacheError) in
      try self.withReader { reader throws(CacheError) in try reader.checkIntegrity() }
    }
  }

  func compact() async throws(CacheError) {
    let now = clock.now
    try await writes.run { () throws(CacheError) in
      _ = try self.writing.perform { writer throws(CacheError) in
        self.keeper.endIdle()
        try writer.compact(at: now)
      }
    }
  }

  /// A connection maps what it reads, and gives the memory back only if it is closed or maps the file again.
  func releaseMemory() async {
    readers.removeIdle()
    writing.releaseMemory()
  }

  func close() async throws(CacheError) {
    readers.close()
    counting.withLock { $0 = Counting(isClosed: true) }
    if writing.closeWithoutWaiting() { return }
    try await writes.run { () throws(CacheError) in try self.writing.close() }
  }

  private func withReader<Output>(
    _ body: (SQLiteReader) throws(CacheError) -> Output
  ) throws(CacheError) -> Output {
    try readers.withResource(
      make: { () throws(CacheError) in
        try SQLiteReader(path: options.path, busyTimeout: options.busyTimeout, keeper: keeper)
      }, body)
  }
}
