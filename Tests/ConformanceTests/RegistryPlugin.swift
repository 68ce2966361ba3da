import EngineSupport
import StorageSPI
import Synchronization

/// The stores of a registry, each under its path: what a disk is to other engines.
final class StoreRegistry: Sendable {
  /// A store, and how often it was changed.
  struct Store: Sendable {
    var table = EntryTable()
    var changes: UInt64 = 0
  }

  private let stores = Mutex<[String: Store]>([:])

  /// Lends the store at `path`, which is made where there is none.
  func withStore<Output: Sendable>(
    _ path: String, _ body: (inout Store) throws(CacheError) -> Output
  ) throws(CacheError) -> Output {
    try stores.withLock { stores throws(CacheError) in try body(&stores[path, default: Store()]) }
  }
}

/// An engine without files that is persistent and shared for as long as its registry lives. With it the checks of these
/// capabilities are tested, and made to fail, without touching a disk.
struct RegistryPlugin: StoragePlugin {
  let registry = StoreRegistry()

  let declaration = EngineDeclaration(
    name: "registry", version: "1", summary: "tables in memory, each under a path",
    capabilities: [.persistent, .shared, .atomicBatches],
    options: [
      EngineOption("path", .path, default: .text("/registry"), help: "where the store is"), .durability,
    ])

  func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
    let path = try configuration.text("path")
    if path.hasPrefix("/dev/null") { throw CacheError(.cannotCreate, "no store can be made at \(path)") }
    return RegistryEngine(registry: registry, path: path, clock: configuration.clock)
  }
}

/// A handle on one store of a registry.
final class RegistryEngine: ChangeCounting {
  private let registry: StoreRegistry
  private let path: String
  private let clock: any WallClock
  private let isClosed = Atomic(false)

  init(registry: StoreRegistry, path: String, clock: any WallClock) {
    self.registry = registry
    self.path = path
    self.clock = clock
  }

  func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? {
    guard let entry = try withStore({ $0.table[key] }) else { return nil }
    return try body(entry.payload.span, entry.metadata)
  }

  func apply(_ batch: WriteBatch) async throws(CacheError) {
    try withStore { store throws(CacheError) in
      try store.table.apply(batch)
      store.changes += 1
    }
  }

  func changeCount() throws(CacheError) -> UInt64? {
    try withStore { $0.changes }
  }

  func scan(_ range: KeyRange, limit: Int) async throws(CacheError) -> [EntrySummary] {
    try withStore { $0.table.scan(range, limit: limit) }
  }

  func statistics() async throws(CacheError) -> StorageStatistics {
    let tally = try withStore { $0.table.tally }
    return StorageStatistics(tally: tally, storageBytes: tally.total().payloadBytes)
  }

  func checkIntegrity() async throws(CacheError) -> [IntegrityIssue] {
    try withStore { _ in [] }
  }

  func compact() async throws(CacheError) {
    let now = clock.now
    try withStore { store in
      if store.table.removeExpired(at: now) { store.changes += 1 }
    }
  }

  func close() async throws(CacheError) {
    isClosed.store(true, ordering: .sequentiallyConsistent)
  }

  private func withStore<Output: Sendable>(
    _ body: (inout StoreRegistry.Store) throws(CacheError) -> Output
  ) throws(CacheError) -> Output {
    if isClosed.load(ordering: .sequentiallyConsistent) { throw .storeClosed }
    return try registry.withStore(path, body)
  }
}
