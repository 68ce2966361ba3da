internal import StorageSPI
internal import Synchronization

/// A table behind a lock. Nothing waits for anything but the lock, which is held for the length of a dictionary access.
final class MemoryEngine: ImmediateReading {
  private let state = Mutex((table: EntryTable(), isClosed: false))
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
    try withTable { table throws(StorageError) in try table.apply(batch) }
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
    try withTable { _ = $0.removeExpired(at: now) }
  }

  func close() async throws(StorageError) {
    state.withLock { $0 = (EntryTable(), true) }
  }

  private func withTable<Output: Sendable>(
    _ body: (inout EntryTable) throws(StorageError) -> Output
  ) throws(StorageError) -> Output {
    try state.withLock { state throws(StorageError) in
      if state.isClosed { throw .storeClosed }
      return try body(&state.table)
    }
  }
}
