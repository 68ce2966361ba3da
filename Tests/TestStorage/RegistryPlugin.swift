package import EngineAPI
internal import Synchronization

/// The stores of a registry, each under its path. It replaces the disk.
package final class StoreRegistry: Sendable {
  /// A store, and how often it was changed.
  package struct Store: Sendable {
    package var table = EntryTable()
    var changes: UInt64 = 0
  }

  private let stores = Mutex<[String: Store]>([:])

  package init() {}

  /// The stores by their paths.
  package var all: [String: Store] { stores.withLock { $0 } }

  /// Removes the store at `path`, and returns it; `nil` if there is none.
  @discardableResult package func remove(_ path: String) -> Store? { stores.withLock { $0.removeValue(forKey: path) } }

  /// Moves the store at `path` to a free path, and returns it.
  func move(_ path: String, appending suffix: String) -> [String] {
    stores.withLock { stores in
      guard let store = stores.removeValue(forKey: path) else { return [] }
      var (place, number) = (path + suffix, 1)
      while stores[place] != nil {
        number += 1
        place = "\(path)\(suffix)-\(number)"
      }
      stores[place] = store
      return [place]
    }
  }

  /// Passes the store at `path` to `body`. If there is none, it is created.
  package func withStore<Output: Sendable>(_ path: String, _ body: (inout Store) throws(CacheError) -> Output)
    throws(CacheError) -> Output
  { try stores.withLock { stores throws(CacheError) in try body(&stores[path, default: Store()]) } }
}

/// An engine without files that is persistent and shared for as long as its registry lives. With it the checks of these
/// capabilities are tested, and made to fail, without touching a disk.
package struct RegistryPlugin: StoragePlugin {
  package let registry = StoreRegistry()

  package init() {}

  package let declaration = EngineDeclaration(
    name: "registry", version: "1", summary: "tables in memory, each under a path",
    capabilities: [.persistent, .shared, .ordered, .bounded, .atomicBatches, .countsChanges],
    options: [
      EngineOption("path", .path, default: .text("/registry"), help: "where the store is"), .durability,
    ])

  package func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
    let path = try configuration.text("path")
    if path.hasPrefix("/dev/null") { throw CacheError(.cannotCreate, "no store can be made at \(path)") }
    return RegistryEngine(registry: registry, path: path, clock: configuration.clock)
  }

  package func removeStore(
    _ configuration: EngineConfiguration, movingAside suffix: String?
  ) async throws(CacheError) -> [String] {
    let path = try configuration.text("path")
    if let suffix { return registry.move(path, appending: suffix) }
    registry.remove(path)
    return []
  }
}

/// A handle on one store of a registry.
package final class RegistryEngine: StorageEngine {
  private let registry: StoreRegistry
  private let path: String
  private let clock: any WallClock
  private let isClosed = Atomic(false)

  /// A handle on the store at `path`; by default on a new, empty one.
  package init(
    registry: StoreRegistry = StoreRegistry(), path: String = "/registry", clock: any WallClock = SystemWallClock()
  ) {
    self.registry = registry
    self.path = path
    self.clock = clock
  }

  package func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? {
    guard let entry = try withStore({ $0.table[key] }) else { return nil }
    return try body(entry.payload.span, entry.metadata)
  }

  package func readNow(
    _ key: Span<UInt8>, _ body: (Span<UInt8>, EntryMetadata) throws(CacheError) -> Void
  ) throws(CacheError) -> Bool? {
    let key = CacheKey(trusting: key)
    guard let entry = try withStore({ $0.table[key] }) else { return false }
    try body(entry.payload.span, entry.metadata)
    return true
  }

  package func apply(_ batch: WriteBatch) async throws(CacheError) {
    try withStore { store throws(CacheError) in
      try store.table.apply(batch)
      store.changes += 1
    }
  }

  package func changeCount() throws(CacheError) -> UInt64? { try withStore { $0.changes } }

  package func scan(_ request: ScanRequest) async throws(CacheError) -> ScanPage {
    try withStore { $0.table.scan(request) }
  }

  package func count() async throws(CacheError) -> StoreCount {
    var count = try withStore { $0.table.count }
    count.storageBytes = count.payloadBytes
    return count
  }

  package func check() async throws(CacheError) -> [IntegrityIssue] { try withStore { _ in [] } }

  package func compact() async throws(CacheError) {
    let now = clock.now
    try withStore { store in if store.table.removeExpired(at: now) { store.changes += 1 } }
  }

  package func close() async throws(CacheError) { isClosed.store(true, ordering: .sequentiallyConsistent) }

  /// Lends the store, unless this handle is closed.
  package func withStore<Output: Sendable>(
    _ body: (inout StoreRegistry.Store) throws(CacheError) -> Output
  ) throws(CacheError) -> Output {
    if isClosed.load(ordering: .sequentiallyConsistent) { throw .storeClosed }
    return try registry.withStore(path, body)
  }
}
