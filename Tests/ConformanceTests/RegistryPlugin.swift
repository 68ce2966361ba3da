import StorageSPI
import Synchronization

/// The stores of a registry, each under its path: what a disk is to other engines.
final class StoreRegistry: Sendable {
  private let tables = Mutex<[String: EntryTable]>([:])

  /// Lends the store at `path`, which is made where there is none.
  func withTable<Output: Sendable>(
    _ path: String, _ body: (inout EntryTable) throws(StorageError) -> Output
  ) throws(StorageError) -> Output {
    try tables.withLock { tables throws(StorageError) in try body(&tables[path, default: EntryTable()]) }
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

  func open(_ configuration: EngineConfiguration) async throws(StorageError) -> any StorageEngine {
    let path = try configuration.text("path")
    if path.hasPrefix("/dev/null") { throw StorageError(.cannotCreate, "no store can be made at \(path)") }
    return RegistryEngine(registry: registry, path: path, clock: configuration.clock)
  }
}

/// A handle on one store of a registry.
final class RegistryEngine: StorageEngine {
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
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(StorageError) -> Output
  ) async throws(StorageError) -> Output? {
    guard let entry = try withTable({ $0[key] }) else { return nil }
    return try body(entry.payload.span, entry.metadata)
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
    isClosed.store(true, ordering: .sequentiallyConsistent)
  }

  private func withTable<Output: Sendable>(
    _ body: (inout EntryTable) throws(StorageError) -> Output
  ) throws(StorageError) -> Output {
    if isClosed.load(ordering: .sequentiallyConsistent) { throw .storeClosed }
    return try registry.withTable(path, body)
  }
}
