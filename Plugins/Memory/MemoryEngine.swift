internal import EngineSupport
internal import StorageSPI
internal import Synchronization

/// A table behind a lock. Calls wait only for the lock, which is held for the duration of a dictionary access.
final class MemoryEngine: ImmediateReading, ChangeCounting {
  private let state = Mutex((table: EntryTable(), changes: UInt64(0), isClosed: false))
  private let clock: any WallClock

  init(clock: any WallClock) {
    self.clock = clock
  }

  func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(StorageError) -> Output
  ) async throws(StorageError) -> Output? {
    guard let entry = try withTable({ $0[key] }) else { return nil }
    return try body(entry.payload.span, entry.metadata)
  }

  func readNow(
    keyBytes: Span<UInt8>, _ body: (Span<UInt8>, EntryMetadata) throws(StorageError) -> Void
  ) throws(StorageError) -> Bool {
    let key = CacheKey(trusting: keyBytes)
    guard let entry = try withTable({ $0[key] }) else { return false }
    try body(entry.payload.span, entry.metadata)
    return true
  }

  func apply(_ batch: WriteBatch) async throws(StorageError) {
    try withState { state throws(StorageError) in
      try state.table.apply(batch)
      state.changes += 1
    }
  }

  func changeCount() throws(StorageError) -> UInt64? {
    try withState { $0.changes }
  }

  func scan(_ range: KeyRange, limit: Int) async throws(StorageError) -> [EntrySummary] {
    try withTable { $0.scan(range, limit: limit) }
  }

  func statistics() async throws(StorageError) -> StorageStatistics {
    let tally = try withTable { $0.tally }
    return StorageStatistics(tally: tally, storageBytes: tally.total().payloadBytes)
  }

  func checkIntegrity() async throws(StorageError) -> [IntegrityIssue] {
    try withTable { _ in [] }
  }

  func compact() async throws(StorageError) {
    let now = clock.now
    try withState { state in
      if state.table.removeExpired(at: now) { state.changes += 1 }
    }
  }

  func close() async throws(StorageError) {
    state.withLock { $0 = (EntryTable(), $0.changes, true) }
  }

  private func withTable<Output: Sendable>(
    _ body: (inout EntryTable) throws(StorageError) -> Output
  ) throws(StorageError) -> Output {
    try withState { state throws(StorageError) in try body(&state.table) }
  }

  private func withState<Output: Sendable>(
    _ body: (inout (table: EntryTable, changes: UInt64, isClosed: Bool)) throws(StorageError) -> Output
  ) throws(StorageError) -> Output {
    try state.withLock { state throws(StorageError) in
      if state.isClosed { throw .storeClosed }
      return try body(&state)
    }
  }
}
