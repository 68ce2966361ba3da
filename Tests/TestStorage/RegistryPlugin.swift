package import EngineSupport
package import StorageSPI
internal import Synchronization

/// The stores of a registry, each under its path: what a disk is to other engines.
package final class StoreRegistry: Sendable {
  /// A store, and how often it was changed.
  package struct Store: Sendable {
    package var table = EntryTable()
    var changes: UInt64 = 0
    var uses: [CacheKey: EntryUse] = [:]
  }

  private let stores = Mutex<[String: Store]>([:])

  package init() {}

  /// The stores by their paths.
  package var all: [String: Store] { stores.withLock { $0 } }

  /// Removes the store at `path`, and returns it; `nil` if there is none.
  @discardableResult package func remove(_ path: String) -> Store? { stores.withLock { $0.removeValue(forKey: path) } }

  /// Moves the store at `path` to where that is free, and returns where.
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

  /// Lends the store at `path`, which is made where there is none.
  package func withStore<Output: Sendable>(
    _ path: String, _ body: (inout Store) throws(CacheError) -> Output
  ) throws(CacheError) -> Output {
    try stores.withLock { stores throws(CacheError) in try body(&stores[path, default: Store()]) }
  }
}

/// An engine without files that is persistent and shared for as long as its registry lives. With it the checks of these
/// capabilities are tested, and made to fail, without touching a disk.
package struct RegistryPlugin: StoragePlugin {
  package let registry = StoreRegistry()

  package init() {}

  package let declaration = EngineDeclaration(
    name: "registry", version: "1", summary: "tables in memory, each under a path",
    capabilities: [.persistent, .shared, .atomicBatches, .eviction],
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
package final class RegistryEngine: ChangeCounting, Evicting {
  private let registry: StoreRegistry
  private let path: String
  private let clock: any WallClock
  private let isClosed = Atomic(false)

  /// A handle on the store at `path`; by default on an empty one of its own.
  package init(
    registry: StoreRegistry = StoreRegistry(), path: String = "/registry",
    clock: any WallClock = SystemWallClock()
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

  package func apply(_ batch: WriteBatch) async throws(CacheError) {
    try withStore { store throws(CacheError) in
      try store.table.apply(batch)
      store.noteChange()
    }
  }

  package func apply(_ batch: WriteBatch, evicting order: EvictionOrder) async throws(CacheError) -> Int {
    let now = clock.now
    return try withStore { store throws(CacheError) in
      var (changed, victims, evicted) = (store, store.victims(of: batch, by: order, at: now)[...], 0)
      while true {
        do throws(CacheError) {
          try changed.table.apply(batch)
          break
        } catch {
          guard error.code == .overBounds, let victim = victims.popFirst() else { throw error }
          if changed.table[victim]?.metadata.state(at: now) != .expired { evicted += 1 }
          var removal = WriteBatch()
          removal.remove(victim)
          try changed.table.apply(removal)
        }
      }
      changed.noteChange()
      store = changed
      return evicted
    }
  }

  package func add(_ uses: [EntryUse]) async throws(CacheError) {
    try withStore { store in
      for use in uses where store.table[use.key] != nil {
        var sum = store.uses[use.key] ?? EntryUse(use.key, lastUsedAt: use.lastUsedAt, count: 0)
        sum.lastUsedAt = max(sum.lastUsedAt, use.lastUsedAt)
        sum.count += use.count
        store.uses[use.key] = sum
      }
    }
  }

  package func changeCount() throws(CacheError) -> UInt64? {
    try withStore { $0.changes }
  }

  package func scan(_ range: KeyRange, limit: Int) async throws(CacheError) -> [EntrySummary] {
    try withStore { $0.table.scan(range, limit: limit) }
  }

  package func statistics() async throws(CacheError) -> StorageStatistics {
    let tally = try withStore { $0.table.tally }
    return StorageStatistics(tally: tally, storageBytes: tally.total().payloadBytes)
  }

  package func checkIntegrity() async throws(CacheError) -> [IntegrityIssue] {
    try withStore { _ in [] }
  }

  package func compact() async throws(CacheError) {
    let now = clock.now
    try withStore { store in
      if store.table.removeExpired(at: now) { store.changes += 1 }
    }
  }

  package func close() async throws(CacheError) {
    isClosed.store(true, ordering: .sequentiallyConsistent)
  }

  /// Lends the store, unless this handle is closed.
  package func withStore<Output: Sendable>(
    _ body: (inout StoreRegistry.Store) throws(CacheError) -> Output
  ) throws(CacheError) -> Output {
    if isClosed.load(ordering: .sequentiallyConsistent) { throw .storeClosed }
    return try registry.withStore(path, body)
  }
}

extension StoreRegistry.Store {
  /// Counts a change, and forgets the uses of entries that are gone.
  mutating func noteChange() {
    changes += 1
    let table = table
    uses = uses.filter { table[$0.key] != nil }
  }

  /// The keys of the entries that may go for `batch`, in the order in which they go.
  func victims(of batch: WriteBatch, by order: EvictionOrder, at now: Timestamp) -> [CacheKey] {
    var named: Set<CacheKey> = []
    for operation in batch.operations {
      switch operation {
      case .put(let key, _, _), .remove(let key), .require(let key, _): named.insert(key)
      }
    }
    let exempt = batch.bounds?.exemptNamespace
    return table.entries.filter { !named.contains($0.key) && $0.key.namespace != exempt }
      .map { (key: $0.key, rank: rank($0.key, $0.value, order, now)) }
      .sorted { $0.rank.lexicographicallyPrecedes($1.rank) }
      .map(\.key)
  }

  private func rank(
    _ key: CacheKey, _ entry: EntryTable.Entry, _ order: EvictionOrder, _ now: Timestamp
  ) -> [Int64] {
    let (storedAt, retainUntil) = (entry.metadata.storedAt.milliseconds, entry.metadata.retainUntil.milliseconds)
    if entry.metadata.state(at: now) == .expired { return [0, retainUntil, storedAt] }
    return [1]
      + order.terms.map { term in
        let number =
          switch term.field {
          case .storedAt: storedAt
          case .lastUsedAt: max(storedAt, uses[key]?.lastUsedAt.milliseconds ?? 0)
          case .useCount: uses[key]?.count ?? 0
          case .payloadBytes: Int64(entry.payload.count)
          case .retainUntil: retainUntil
          }
        return if case .most = term { -number } else { number }
      }
  }
}
