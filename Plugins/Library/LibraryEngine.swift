internal import EngineSupport
internal import StorageSPI
internal import Synchronization

/// A store of an engine in a library.
///
/// Reads run on the calling thread, unless the library says that they wait. Everything else runs on threads of the
/// engine's own: one for writes, one for operations that look through the store, and several for waiting reads.
final class LibraryEngine: Evicting, BatchReading, ChangeFollowing {
  private let store: LibraryStore
  private let gate = LibraryGate()
  private let writing = BlockingExecutor()
  private let looking = BlockingExecutor()
  private let reading: [BlockingExecutor]
  private let nextReader = Atomic<UInt>(0)

  /// How many reads can wait for a disk or a network at once.
  private static let readerCount = 8

  init(_ store: LibraryStore) {
    self.store = store
    reading = store.table.readsWait ? (0..<Self.readerCount).map { _ in BlockingExecutor() } : []
  }

  func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? {
    if reading.isEmpty { return try readInPlace(key, body) }
    return try await readWaiting(key, body)
  }

  /// The engine itself if its reads wait, and the library can read several entries at once.
  var batchReader: (any BatchReading)? { reading.isEmpty || !store.table.readsBatches ? nil : self }

  func read(_ keys: [CacheKey]) async throws(CacheError) -> [Result<ReadEntry?, CacheError>] {
    try await run(on: looking) { store throws(CacheError) in try store.read(keys) }
  }

  func apply(_ batch: WriteBatch) async throws(CacheError) {
    try await run(on: writing) { store throws(CacheError) in try store.apply(batch) }
  }

  /// The engine itself if the library evicts.
  var evictor: (any Evicting)? { store.table.evicts ? self : nil }

  func apply(_ batch: WriteBatch, evicting order: EvictionOrder) async throws(CacheError) -> Int {
    try await run(on: writing) { store throws(CacheError) in try store.apply(batch, evicting: order) }
  }

  func add(_ uses: [EntryUse]) async throws(CacheError) {
    try await run(on: writing) { store throws(CacheError) in try store.add(uses) }
  }

  /// The engine itself if the library follows the changes of others.
  var changeFollower: (any ChangeFollowing)? { ifOpen { store.followsChanges ? self : nil } }

  func changeMark(of key: CacheKey) -> ChangeMark? { ifOpen { store.changeMark(of: key) } }

  /// What `body` returns; `nil` if the store is closed.
  private func ifOpen<Output>(_ body: () -> Output?) -> Output? {
    guard (try? gate.enter()) != nil else { return nil }
    defer { gate.leave() }
    return body()
  }

  func scan(_ range: KeyRange, limit: Int) async throws(CacheError) -> [EntrySummary] {
    try await run(on: looking) { store throws(CacheError) in try store.scan(range, limit: limit) }
  }

  func statistics() async throws(CacheError) -> StorageStatistics {
    try await run(on: looking) { store throws(CacheError) in try store.statistics() }
  }

  func checkIntegrity() async throws(CacheError) -> [IntegrityIssue] {
    try await run(on: looking) { store throws(CacheError) in try store.checkIntegrity() }
  }

  func compact() async throws(CacheError) {
    try await run(on: writing) { store throws(CacheError) in try store.compact() }
  }

  func releaseMemory() async {
    // This fails only if the store is closed, and then it holds no memory.
    try? await run(on: looking) { store throws(CacheError) in store.releaseMemory() }
  }

  func close() async throws(CacheError) {
    await gate.close()
    try await writing.run { [store] () throws(CacheError) in try store.close() }
  }

  /// Not asynchronous, so that its locals are on the stack.
  private func readInPlace<Output: Sendable>(
    _ key: CacheKey, _ body: (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) throws(CacheError) -> Output? {
    try gate.enter()
    defer { gate.leave() }
    var output: Output?
    try store.read(key) { payload, metadata throws(CacheError) in output = try body(payload, metadata) }
    return output
  }

  private func readWaiting<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? {
    let turn = nextReader.add(1, ordering: .relaxed).oldValue
    let executor = reading[Int(turn % UInt(reading.count))]
    let found = try await run(on: executor) { store throws(CacheError) in try store.copy(of: key) }
    guard let found else { return nil }
    return try body(found.payload.span, found.metadata)
  }

  /// Runs `work` on a thread of `executor`. It counts as in progress from now on, so that a store closes after it.
  private func run<Output: Sendable>(
    on executor: BlockingExecutor, _ work: @escaping @Sendable (LibraryStore) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output {
    try gate.enter()
    return try await LibraryCancellation.run(on: executor) { [store, gate] () throws(CacheError) in
      defer { gate.leave() }
      return try work(store)
    }
  }
}

/// Counts the calls in progress, and lets `close()` wait until they have returned.
///
/// A call costs two atomic additions. Waiting blocks no thread.
final class LibraryGate: Sendable {
  private struct Waiting {
    var isEmpty = false
    var continuations: [CheckedContinuation<Void, Never>] = []
  }

  private static let closed = 1 << 62

  /// The number of calls in progress; closing adds `closed` to it.
  private let calls = Atomic<Int>(0)
  private let waiting = Mutex(Waiting())

  /// Counts a call in, until `leave()`.
  ///
  /// - Throws: `CacheError` with the code `closed` after `close()`.
  @inline(__always)
  func enter() throws(CacheError) {
    if calls.add(1, ordering: .acquiring).newValue > Self.closed { try refuse() }
  }

  /// Counts a call out.
  @inline(__always)
  func leave() {
    if calls.subtract(1, ordering: .acquiringAndReleasing).newValue == Self.closed { reportEmpty() }
  }

  /// Rejects new calls from now on, and waits for those in progress.
  func close() async {
    let before = calls.bitwiseOr(Self.closed, ordering: .acquiringAndReleasing).oldValue
    if before & ~Self.closed == 0 { reportEmpty() }
    await withCheckedContinuation { continuation in
      let isEmpty = waiting.withLock { waiting in
        if !waiting.isEmpty { waiting.continuations.append(continuation) }
        return waiting.isEmpty
      }
      if isEmpty { continuation.resume() }
    }
  }

  @inline(never)
  private func refuse() throws(CacheError) {
    leave()
    throw .storeClosed
  }

  private func reportEmpty() {
    let continuations = waiting.withLock { waiting in
      waiting.isEmpty = true
      defer { waiting.continuations = [] }
      return waiting.continuations
    }
    for continuation in continuations { continuation.resume() }
  }
}
