internal import EngineAPI

/// A table that any number of threads read at once, or one changes. Calls wait no longer than a change of the table
/// takes.
///
/// `@unchecked Sendable`: a thread changes the state only while it is alone in the gate, and reads it only inside.
final class MemoryEngine: StorageEngine, @unchecked Sendable {
  /// It is not copyable, so that a read cannot copy it: counting references to the table in memory that all readers
  /// share would slow them down.
  private struct State: ~Copyable {
    var table = EntryTable()
    var changes: UInt64 = 0
    var isClosed = false

    borrowing func entry(_ key: CacheKey) throws(CacheError) -> EntryTable.Entry? {
      try requireOpen()
      return table[key]
    }

    borrowing func requireOpen() throws(CacheError) {
      if isClosed { throw .storeClosed }
    }
  }

  private let gate = Gate()
  private let state = UnsafeMutablePointer<State>.allocate(capacity: 1)
  private let clock: any WallClock

  init(clock: any WallClock) {
    self.clock = clock
    state.initialize(to: State())
  }

  deinit {
    state.deinitialize(count: 1)
    state.deallocate()
  }

  func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? {
    guard let entry = try entry(key) else { return nil }
    return try body(entry.payload.span, entry.metadata)
  }

  func readNow(
    _ key: Span<UInt8>, _ body: (Span<UInt8>, EntryMetadata) throws(CacheError) -> Void
  ) throws(CacheError) -> Bool? {
    guard let entry = try entry(CacheKey(trusting: key)) else { return false }
    try body(entry.payload.span, entry.metadata)
    return true
  }

  func apply(_ batch: WriteBatch) async throws(CacheError) {
    try change { state throws(CacheError) in
      try state.table.apply(batch)
      state.changes += 1
    }
  }

  func changeCount() throws(CacheError) -> UInt64? {
    gate.enter()
    defer { gate.leave() }
    try state.pointee.requireOpen()
    return state.pointee.changes
  }

  func scan(_ request: ScanRequest) async throws(CacheError) -> ScanPage {
    try change { $0.table.scan(request) }
  }

  func count() async throws(CacheError) -> StoreCount {
    var count = try change { $0.table.count }
    count.storageBytes = count.payloadBytes
    return count
  }

  func check() async throws(CacheError) -> [IntegrityIssue] {
    try change { _ in [] }
  }

  func compact() async throws(CacheError) {
    let now = clock.now
    try change { state in
      if state.table.removeExpired(at: now) { state.changes += 1 }
    }
  }

  func close() async throws(CacheError) {
    gate.alone { (state.pointee.table, state.pointee.isClosed) = (EntryTable(), true) }
  }

  private func entry(_ key: CacheKey) throws(CacheError) -> EntryTable.Entry? {
    gate.enter()
    defer { gate.leave() }
    return try state.pointee.entry(key)
  }

  /// Calls `body` while no other thread reads or changes the state.
  private func change<Output>(
    _ body: (inout State) throws(CacheError) -> Output
  ) throws(CacheError) -> Output {
    try gate.alone { () throws(CacheError) -> Output in
      try state.pointee.requireOpen()
      return try body(&state.pointee)
    }
  }
}
