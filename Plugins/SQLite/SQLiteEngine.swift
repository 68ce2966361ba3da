internal import CSQLite
internal import StorageSPI
internal import Synchronization

/// A database behind a pool of connections that read and one that writes.
///
/// Reads run where they are called. So do writes, as long as they need not wait: for the disk, for another writer, or
/// for the copying of the log. Those that wait do so on a thread of the engine's own.
final class SQLiteEngine: ImmediateReading {
  private struct Writing {
    /// Opened by the first write: most runs of the command-line tool never write.
    var writer: SQLiteWriter?
    var isClosed = false
  }

  private let options: SQLiteOptions
  private let clock: any WallClock
  private let readers = ResourcePool<SQLiteReader>()
  private let writing = Mutex(Writing())
  private let writes = BlockingExecutor()
  private let inspections = BlockingExecutor()

  /// Opens the store, and checks that it is one.
  init(_ options: SQLiteOptions, clock: any WallClock) throws(StorageError) {
    self.options = options
    self.clock = clock
    try withReader { _ in }
  }

  func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(StorageError) -> Output
  ) async throws(StorageError) -> Output? {
    try key.text.withBytes { bytes throws(StorageError) in
      try withReader { reader throws(StorageError) in try reader.read(bytes, body) }
    }
  }

  func readNow(
    keyBytes: Span<UInt8>, _ body: (Span<UInt8>, EntryMetadata) throws(StorageError) -> Void
  ) throws(StorageError) -> Bool {
    try keyBytes.withUnsafeBufferPointer { bytes throws(StorageError) in
      try withReader { reader throws(StorageError) in try reader.read(bytes, body) != nil }
    }
  }

  func apply(_ batch: WriteBatch) async throws(StorageError) {
    let needsCheckpoint: Bool
    if let done = try applyWithoutWaiting(batch) {
      needsCheckpoint = done
    } else {
      needsCheckpoint = try await writes.run { () throws(StorageError) in
        try self.withWriter(busyTimeout: self.options.busyTimeout) { writer throws(StorageError) in
          try writer.apply(batch)
        }
      }
    }
    if needsCheckpoint { await checkpoint() }
  }

  func scan(_ range: KeyRange, limit: Int) async throws(StorageError) -> [EntrySummary] {
    try withReader { reader throws(StorageError) in try reader.scan(range, limit: limit) }
  }

  func statistics() async throws(StorageError) -> StorageStatistics {
    try await inspections.run { () throws(StorageError) in
      let tally = try self.withReader { reader throws(StorageError) in try reader.tally() }
      return StorageStatistics(tally: tally, storageBytes: SQLiteFiles.storeSize(at: self.options.path))
    }
  }

  func checkIntegrity() async throws(StorageError) -> [IntegrityIssue] {
    try await inspections.run { () throws(StorageError) in
      try self.withReader { reader throws(StorageError) in try reader.checkIntegrity() }
    }
  }

  func compact() async throws(StorageError) {
    let now = clock.now
    try await writes.run { () throws(StorageError) in
      _ = try self.withWriter(busyTimeout: self.options.busyTimeout) { writer throws(StorageError) in
        try writer.compact(at: now)
      }
    }
  }

  /// A connection maps what it reads, and only closing it gives that back.
  func releaseMemory() async { readers.removeIdle() }

  func close() async throws(StorageError) {
    readers.close()
    // Where nothing was written there is nothing to copy, and so nothing to wait for.
    let wasOnlyRead = writing.withLockIfAvailable { writing in
      writing.isClosed = true
      return writing.writer == nil
    }
    if wasOnlyRead == true { return }
    try await writes.run { () throws(StorageError) in
      try self.writing.withLock { writing throws(StorageError) in
        writing.isClosed = true
        let writer = writing.writer.take()
        try writer?.checkpoint()
      }
    }
  }

  private func withReader<Output>(
    _ body: (SQLiteReader) throws(StorageError) -> Output
  ) throws(StorageError) -> Output {
    try readers.withResource(
      make: { () throws(StorageError) in
        try SQLiteReader(path: options.path, busyTimeout: options.busyTimeout)
      }, body)
  }

  /// Applies `batch` where it is called, unless that would wait for the disk or another writer.
  ///
  /// - Returns: whether the log should be copied; `nil` where nothing was done because it would have waited.
  private func applyWithoutWaiting(_ batch: WriteBatch) throws(StorageError) -> Bool? {
    if options.durability == .full { return nil }
    do throws(StorageError) {
      return try writing.withLockIfAvailable { writing throws(StorageError) in
        try Self.use(&writing, options, busyTimeout: 0) { writer throws(StorageError) in try writer.apply(batch) }
      }
    } catch {
      // Another process holds the store, and nothing was changed.
      if error.code == .busy { return nil }
      throw error
    }
  }

  private func withWriter(
    busyTimeout: Int32, _ body: (SQLiteWriter) throws(StorageError) -> Void
  ) throws(StorageError) -> Bool {
    try writing.withLock { writing throws(StorageError) in
      try Self.use(&writing, options, busyTimeout: busyTimeout, body)
    }
  }

  /// Calls `body` with the writer, which is opened first where it is not yet, and says whether the log should be
  /// copied.
  private static func use(
    _ writing: inout Writing, _ options: SQLiteOptions, busyTimeout: Int32,
    _ body: (SQLiteWriter) throws(StorageError) -> Void
  ) throws(StorageError) -> Bool {
    if writing.isClosed { throw .storeClosed }
    let writer = if let open = writing.writer { open } else { try SQLiteWriter(options, busyTimeout: busyTimeout) }
    writing.writer = writer
    writer.setBusyTimeout(busyTimeout)
    try body(writer)
    return writer.needsCheckpoint
  }

  /// Copies the log. A failure is no failure of the batch, which is committed: the next checkpoint tries again, and
  /// `close()` reports it.
  private func checkpoint() async {
    _ = try? await writes.run { () throws(StorageError) in
      try self.writing.withLock { writing throws(StorageError) in try writing.writer?.checkpoint() }
    }
  }
}
