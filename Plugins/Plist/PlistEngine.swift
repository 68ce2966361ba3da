internal import EngineAPI
internal import Synchronization

/// Serves from memory if a namespace's file is loaded and unchanged; all other work runs on its own thread.
final class PlistEngine: StorageEngine {
  private let store: PlistStore
  private let clock: any WallClock
  private let executor = BlockingExecutor()
  private let isClosed = Atomic(false)

  private init(_ store: PlistStore, clock: any WallClock) {
    self.store = store
    self.clock = clock
  }

  /// Opens the folder of `options`, and creates it if there is none.
  static func open(
    _ options: PlistOptions, clock: any WallClock, system: StoreFiles = StoreFiles()
  ) async throws(CacheError) -> PlistEngine {
    let engine = PlistEngine(PlistStore(PlistFolder(options, system)), clock: clock)
    try await engine.run { store throws(CacheError) in try store.folder.makeStore() }
    return engine
  }

  func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? {
    guard let entry = try await table(of: key.namespace)[key] else { return nil }
    return try body(entry.payload.span, entry.metadata)
  }

  func apply(_ batch: WriteBatch) async throws(CacheError) {
    if isClosed.load(ordering: .acquiring) { throw .storeClosed }
    let store = store
    let write = store.enqueue(batch)
    // Not by `run`, which can fail after another call has committed the batch.
    try await executor.run { () throws(CacheError) in try store.finish(write) }
  }

  func scan(_ request: ScanRequest) async throws(CacheError) -> ScanPage {
    try await run { store throws(CacheError) in try store.scan(request) }
  }

  func count() async throws(CacheError) -> StoreCount {
    try await run { store throws(CacheError) in try store.count() }
  }

  func check() async throws(CacheError) -> [IntegrityIssue] {
    try await run { store throws(CacheError) in try store.check() }
  }

  func compact() async throws(CacheError) {
    let now = clock.now
    try await run { store throws(CacheError) in try store.removeExpired(at: now) }
  }

  func close() async throws(CacheError) {
    guard !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
    // The executor works in order, so all earlier work has ended by now.
    let store = store
    try await executor.run { store.release() }
  }

  private func table(of namespace: String) async throws(CacheError) -> EntryTable {
    if isClosed.load(ordering: .acquiring) { throw .storeClosed }
    if let loaded = try store.current(namespace) { return loaded.table }
    return try await run { store throws(CacheError) in
      try store.reading { () throws(CacheError) in try store.load(namespace).table }
    }
  }

  private func run<Output: Sendable>(
    _ body: @escaping @Sendable (PlistStore) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output {
    if isClosed.load(ordering: .acquiring) { throw .storeClosed }
    let store = store
    return try await executor.run { () throws(CacheError) in try body(store) }
  }
}
