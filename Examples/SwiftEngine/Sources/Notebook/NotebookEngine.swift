internal import EngineAPI
internal import Synchronization

/// All entries in memory, and every change at the end of a file.
///
/// Reads never wait, so `readNow` returns at once: the host then calls it on its own thread.
final class NotebookEngine: StorageEngine {
  /// The entries that reads see; `nil` once the store is closed. The lock is never held while the disk is waited for.
  private let table: Mutex<EntryTable?>
  /// Used on the executor only, which does one thing after another.
  private let journal: Mutex<Journal?>
  private let executor: BlockingExecutor
  private let clock: any WallClock

  init(
    _ path: String, _ durability: Durability, clock: any WallClock, _ executor: BlockingExecutor
  ) throws(CacheError) {
    var table = EntryTable()
    journal = Mutex(try Journal(path, synchronizes: durability == .full, reading: &table))
    self.table = Mutex(table)
    self.executor = executor
    self.clock = clock
  }

  func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? {
    guard let entry = try current()[key] else { return nil }
    return try body(entry.payload.span, entry.metadata)
  }

  func readNow(
    _ key: Span<UInt8>, _ body: (Span<UInt8>, EntryMetadata) throws(CacheError) -> Void
  ) throws(CacheError) -> Bool? {
    guard let entry = try current()[CacheKey(trusting: key)] else { return false }
    try body(entry.payload.span, entry.metadata)
    return true
  }

  /// The changes are made to a copy, which takes the table's place once they are in the file. Copying makes a batch
  /// cost more the more entries there are: simple, and good enough for several thousand.
  func apply(_ batch: WriteBatch) async throws(CacheError) {
    try await change { table, journal throws(CacheError) in
      try table.apply(batch)
      try journal.append(batch)
    }
  }

  func scan(_ request: ScanRequest) async throws(CacheError) -> ScanPage {
    // The order of the keys is kept with the table until it changes.
    try table.withLock { table throws(CacheError) in
      guard let page = table?.scan(request) else { throw .storeClosed }
      return page
    }
  }

  func count() async throws(CacheError) -> StoreCount {
    var count = try current().count
    count.storageBytes = try await executor.run { () throws(CacheError) in
      try self.withJournal { journal throws(CacheError) in journal.size }
    }
    return count
  }

  /// The file was read whole when it was opened: an entry that could not be read would have been an error then.
  func check() async throws(CacheError) -> [IntegrityIssue] {
    _ = try current()
    return []
  }

  func compact() async throws(CacheError) {
    let now = clock.now
    try await change { table, journal throws(CacheError) in
      _ = table.removeExpired(at: now)
      try journal.replace(with: table)
    }
  }

  func close() async throws(CacheError) {
    table.withLock { $0 = nil }
    try await executor.run { () throws(CacheError) in self.journal.withLock { $0 = nil } }
  }

  private func current() throws(CacheError) -> EntryTable {
    guard let table = table.withLock({ $0 }) else { throw .storeClosed }
    return table
  }

  private func change(
    _ body: @escaping @Sendable (inout EntryTable, inout Journal) throws(CacheError) -> Void
  ) async throws(CacheError) {
    try await executor.run { () throws(CacheError) in
      var table = try self.current()
      try self.withJournal { journal throws(CacheError) in try body(&table, &journal) }
      self.table.withLock { if $0 != nil { $0 = table } }
    }
  }

  private func withJournal<Output>(
    _ body: (inout Journal) throws(CacheError) -> Output
  ) throws(CacheError) -> Output {
    try journal.withLock { journal throws(CacheError) in
      guard var open = journal else { throw .storeClosed }
      defer { journal = open }
      return try body(&open)
    }
  }
}
