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
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? {
    guard let entry = try withTable({ $0[key] }) else { return nil }
    return try body(entry.payload.span, entry.metadata)
  }

  func readNow(
    keyBytes: Span<UInt8>, _ body: (Span<UInt8>, EntryMetadata) throws(CacheError) -> Void
  ) throws(CacheError) -> Bool {
    let key = CacheKey(trusting: keyBytes)
    guard let entry = try withTable({ $0[key] }) else { return false }
    try body(entry.payload.span, entry.metadata)
    return true
  }

  func apply(_ batch: WriteBatch) async throws(CacheError) {
    try withState { state throws(CacheError) in
      try state.table.apply(batch)
      state.changes += 1
    }
  }

  func changeCount() throws(CacheError) -> UInt64? {
    try withState { $0.changes }
  }

  func scan(_ range: KeyRange, limit: Int) async throws(CacheError) -> [EntrySummary] {
    try withTable { $0.scan(range, limit: limit) }
  }

  func statistics() async throws(CacheError) -> StorageStatistics {
    let tally = try withTable { $0.tally }
    return StorageStatistics(tally: tally, storageBytes: tally.total().payloadBytes)
  }

  func checkIntegrity() async throws(CacheError) -> [IntegrityIssue] {
    try withTable { _ in [] }
  }

  func compact() async throws(CacheError) {
    let now = clock.now
    try withState { state in
      if state.table.removeExpired(at: now) { state.changes += 1 }
    }
  }

  func close() async throws(CacheError) {
    state.withLock { $0 = (EntryTable(), $0.changes, true) }
  }

  private func withTable<Output: Sendable>(
    _ body: (inout EntryTable) throws(CacheError) -> Output
  ) throws(CacheError) -> Output {
    try withState { state throws(CacheError) in try body(&state.table) }
  }

  private func withState<Output: Sendable>(
    _ body: (inout (table: EntryTable, changes: UInt64, isClosed: Bool)) throws(CacheError) -> Output
  ) throws(CacheError) -> Output {
    try state.withLock { state throws(CacheError) in
      if state.isClosed { throw .storeClosed }
      return try body(&state)
    }
  }
}
