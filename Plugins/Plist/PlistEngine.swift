internal import EngineSupport
internal import StorageSPI
internal import Synchronization

/// Answers from memory if a namespace's file is loaded and unchanged; all other work runs on a thread of its own.
final class PlistEngine: StorageEngine {
  private let store: PlistStore
  private let clock: any WallClock
  private let executor = BlockingExecutor()
  private let isClosed = Atomic(false)
  /// The batches of calls that wait for the executor.
  private let waiting = Mutex<[PlistWrite]>([])

  private init(_ store: PlistStore, clock: any WallClock) {
    self.store = store
    self.clock = clock
  }

  /// Opens the folder of `options`, and creates it if there is none.
  static func open(
    _ options: PlistOptions, clock: any WallClock, fileSystem: any FileSystem = SystemFileSystem()
  ) async throws(CacheError) -> PlistEngine {
    let engine = PlistEngine(PlistStore(options, fileSystem: fileSystem), clock: clock)
    try await engine.run { store throws(CacheError) in try store.folder.makeStore() }
    return engine
  }

  func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? {
    guard let entry = try await file(key.namespace).table[key] else { return nil }
    return try body(entry.payload.span, entry.metadata)
  }

  func apply(_ batch: WriteBatch) async throws(CacheError) {
    if isClosed.load(ordering: .acquiring) { throw .storeClosed }
    guard !batch.operations.isEmpty || batch.bounds != nil else { return }
    let write = PlistWrite(batch)
    waiting.withLock { $0.append(write) }
    let failure = try await executor.run { () throws(CacheError) in
      // Each file is written as a whole, so the first of the calls that wait writes for all of them.
      let writes = self.waiting.withLock { waiting in
        defer { waiting = [] }
        return waiting
      }
      if !writes.isEmpty { self.store.apply(writes) }
      return write.failure.withLock { $0 }
    }
    if let failure { throw failure }
  }

  func scan(_ range: KeyRange, limit: Int) async throws(CacheError) -> [EntrySummary] {
    if let slash = range.prefix.firstIndex(of: "/") {
      let namespace = String(range.prefix[..<slash])
      guard CacheKey.isNamespace(namespace) else { return try await run { _ in [] } }
      return store.scan(namespace, try await file(namespace), range, limit: limit)
    }
    return try await run { store throws(CacheError) in
      try store.reading { () throws(CacheError) in try Self.scan(store, range, limit) }
    }
  }

  private static func scan(_ store: PlistStore, _ range: KeyRange, _ limit: Int) throws(CacheError) -> [EntrySummary] {
    var summaries: [EntrySummary] = []
    let namespaces = try store.folder.namespaces()
    for namespace in range.isDescending ? namespaces.reversed() : namespaces where namespace.hasPrefix(range.prefix) {
      guard summaries.count < limit else { break }
      if let last = range.after?.namespace, range.isDescending ? namespace > last : namespace < last { continue }
      summaries += store.scan(namespace, try store.load(namespace), range, limit: limit - summaries.count)
    }
    return summaries
  }

  func statistics() async throws(CacheError) -> StorageStatistics {
    try await run { store throws(CacheError) in
      try store.reading { () throws(CacheError) in
        var tally = EntryTally()
        for namespace in try store.folder.namespaces() { tally.add(try store.load(namespace).table.tally) }
        return StorageStatistics(tally: tally, storageBytes: try store.folder.size())
      }
    }
  }

  func checkIntegrity() async throws(CacheError) -> [IntegrityIssue] {
    try await run { store throws(CacheError) in try store.check() }
  }

  func compact() async throws(CacheError) {
    let now = clock.now
    try await run { store throws(CacheError) in
      try store.writing { () throws(CacheError) in try store.removeExpired(at: now) }
    }
  }

  func close() async throws(CacheError) {
    guard !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
    // The executor works in order, so all earlier work has ended by now.
    let store = store
    try await executor.run { store.release() }
  }

  private func file(_ namespace: String) async throws(CacheError) -> PlistFile {
    if isClosed.load(ordering: .acquiring) { throw .storeClosed }
    if let file = store.current(namespace) { return file }
    return try await run { store throws(CacheError) in
      try store.reading { () throws(CacheError) in try store.load(namespace) }
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
