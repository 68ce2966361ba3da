internal import Platform
internal import EngineSupport
internal import StorageSPI
internal import Synchronization

/// The writing connection, opened by the first write: most runs of the command-line tool never write.
final class SQLiteWriting: SnapshotHolding {
  private struct State {
    var writer: SQLiteWriter?
    var isClosed = false
  }

  /// This many reads after a write use the writer. Later reads use the pool, whose readers can keep their snapshots
  /// longer.
  private static let readsAfterWrite = 256

  private let options: SQLiteOptions
  private let keeper: SnapshotKeeper
  private let state = Mutex(State())
  private let patience: LockPatience
  /// How many more reads go through the writer.
  private let readsLeft = Atomic<Int>(0)
  private let isReading = Atomic<Bool>(false)

  /// - Parameter now: the time since a fixed moment.
  init(
    _ options: SQLiteOptions, _ keeper: SnapshotKeeper, now: @escaping @Sendable () -> Duration = LockPatience.elapsed
  ) {
    self.options = options
    self.keeper = keeper
    patience = LockPatience(.milliseconds(options.busyTimeout), now: now)
  }

  /// Calls `body` with the writer, and returns whether the log should be copied. It waits for other writers for up to
  /// the timeout, or only for a moment if another call has just done that in vain.
  func perform(_ body: (SQLiteWriter) throws(CacheError) -> Void) throws(CacheError) -> Bool {
    try state.withLock { state throws(CacheError) in
      try patience.wait { timeout throws(CacheError) in
        try use(&state, busyTimeout: Int32(timeout / .milliseconds(1)), body)
      }
    }
  }

  /// Applies `batch`, and returns whether the log should be copied. It waits for other writers as `perform` does.
  ///
  /// If the file system has no space for the batch, it copies the log into the database first: then the log begins anew
  /// in the space that it already has.
  func apply(_ batch: WriteBatch) throws(CacheError) -> Bool {
    do throws(CacheError) {
      return try perform { writer throws(CacheError) in try writer.apply(batch) }
    } catch {
      guard error.code == .noSpace, (try? checkpoint()) != nil else { throw error }
      return try perform { writer throws(CacheError) in try writer.apply(batch) }
    }
  }

  /// Applies `batch`, unless that would wait for the disk or for another writer.
  ///
  /// - Returns: whether the log should be copied; `nil` if applying would have waited, and nothing was done.
  func applyWithoutWaiting(_ batch: WriteBatch) throws(CacheError) -> Bool? {
    if options.durability == .full { return nil }
    do throws(CacheError) {
      repeat {
        let done = try state.withLockIfAvailable { state throws(CacheError) in
          try use(&state, busyTimeout: 0) { writer throws(CacheError) in try writer.apply(batch) }
        }
        if let done {
          patience.succeeded()
          return done
        }
        // A read ends soon. Any other holder of the lock may be waiting for the disk.
      } while isReading.load(ordering: .relaxed) && sched_yield() == 0
      return nil
    } catch {
      // Another process holds the store, or the disk is full, so nothing was changed.
      if [.busy, .noSpace].contains(error.code) { return nil }
      throw error
    }
  }

  /// Whether reads should try the writer first.
  @inline(__always)
  var isWorthReading: Bool { readsLeft.load(ordering: .relaxed) > 0 }

  /// Reads through the connection that wrote last: another one would have to drop its page cache and map the file
  /// again. So does an eviction, which scans a few entries at a time right after a write.
  ///
  /// - Returns: what `body` returned; `nil` if the writer could not be used without waiting.
  @inline(__always)
  func withReader<Output: Sendable>(
    _ body: (SQLiteReader) throws(CacheError) -> Output
  ) throws(CacheError) -> Output? {
    let result: Output?? = try state.withLockIfAvailable { state throws(CacheError) -> Output? in
      if state.isClosed { throw .storeClosed }
      guard let writer = state.writer else { return nil }
      isReading.store(true, ordering: .relaxed)
      defer { isReading.store(false, ordering: .relaxed) }
      readsLeft.wrappingSubtract(1, ordering: .relaxed)
      writer.setBusyTimeout(options.busyTimeout)
      return .some(try body(writer.reader))
    }
    return result ?? nil
  }

  /// Copies the log into the database, after ending the snapshots that idle readers in this process keep.
  func checkpoint() throws(CacheError) {
    try state.withLock { state throws(CacheError) in
      keeper.endIdle()
      try state.writer?.checkpoint()
    }
  }

  func endKeptSnapshot(unlessUsed: Bool) {
    _ = state.withLockIfAvailable { $0.writer?.reader.endKeptSnapshot(unlessUsed: unlessUsed) }
  }

  /// Releases mapped memory.
  func releaseMemory() {
    _ = try? state.withLockIfAvailable { state throws(CacheError) in try state.writer?.releaseMemory() }
  }

  /// Closes at once if nothing was written: then there is nothing to copy, and nothing to wait for.
  ///
  /// - Returns: whether it closed.
  func closeWithoutWaiting() -> Bool {
    let wasOnlyRead = state.withLockIfAvailable { state in
      state.isClosed = true
      return state.writer == nil
    }
    return wasOnlyRead ?? false
  }

  /// Copies the log and closes. If the file system has no space for the copy, the log keeps what was committed, and a
  /// later handle copies it.
  func close() throws(CacheError) {
    try state.withLock { state throws(CacheError) in
      state.isClosed = true
      let writer = state.writer.take()
      try SQLiteWriter.ignoringFullDisk { () throws(CacheError) in try writer?.checkpoint() }
    }
  }

  private func use(
    _ state: inout State, busyTimeout: Int32, _ body: (SQLiteWriter) throws(CacheError) -> Void
  ) throws(CacheError) -> Bool {
    if state.isClosed { throw .storeClosed }
    let writer =
      if let open = state.writer { open } else { try SQLiteWriter(options, busyTimeout: busyTimeout, keeper: keeper) }
    state.writer = writer
    writer.setBusyTimeout(busyTimeout)
    do throws(CacheError) {
      try body(writer)
    } catch {
      // If even the rollback failed, closing the connection rolls back. A connection that was opened read-only can
      // never write again, even if the reason has passed, so close it too.
      if writer.connection.isInTransaction || error.code == .permissionDenied { state.writer = nil }
      throw error
    }
    readsLeft.store(Self.readsAfterWrite, ordering: .relaxed)
    return writer.needsCheckpoint
  }
}
