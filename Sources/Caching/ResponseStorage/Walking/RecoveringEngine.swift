public import StorageSPI
internal import Synchronization

/// A read-only engine that continues past damage: from the first call that meets damage on, it returns what a repair
/// would save.
///
/// It closes the store for that, as a repair must. Listings continue after the last key returned, so that each entry is
/// listed once. If the engine cannot tell what a repair would save, or another process has the store open, it opens the
/// store again and lets calls fail. If that fails too, every later call fails for the same reason; after a cancellation
/// the next call tries again.
public final class RecoveringEngine: StorageEngine {
  private struct State {
    var engine: any StorageEngine
    var salvage: SalvagedEngine?
    var wasTried = false
    /// The damage for which a cancelled call closed the engine.
    var damage: CacheError?
    /// Why the engine could be neither closed nor replaced.
    var failure: CacheError?
  }

  private let plugin: any StoragePlugin
  private let configuration: EngineConfiguration
  private let state: Mutex<State>
  private let mutex = AsyncMutex()
  private let listing = Mutex<Listing?>(nil)

  /// The result of a listing.
  private struct Listing {
    let range: KeyRange
    let keys: [CacheKey]
  }

  /// Creates an engine over `engine`, which `plugin` has opened with `configuration`. No other handle in this process
  /// may have the store open.
  public init(_ engine: any StorageEngine, _ plugin: any StoragePlugin, _ configuration: EngineConfiguration) {
    (self.plugin, self.configuration) = (plugin, configuration)
    state = Mutex(State(engine: engine))
  }

  /// What the store has lost; `nil` until a call meets damage.
  var damage: StoreDamage? { state.withLock { $0.salvage?.damage } }

  private var engine: any StorageEngine {
    get throws(CacheError) {
      let state = state.withLock { $0 }
      if let failure = state.failure { throw failure }
      return state.engine
    }
  }

  /// What reports of the tiers of the store, as long as it is the store itself that is read.
  public var tierReporter: (any TierReporting)? { (try? engine)?.tierReporter }

  private func reading<Output: Sendable>(
    _ call: (any StorageEngine) async throws(CacheError) -> Output
  ) async throws(CacheError) -> Output {
    let engine = try engine
    do throws(CacheError) {
      return try await call(engine)
    } catch {
      guard let replacement = try await replacement(of: engine, after: error) else { throw error }
      return try await call(replacement)
    }
  }

  /// The engine to ask instead of `engine`, which failed with `error`; `nil` if there is none.
  private func replacement(
    of engine: any StorageEngine, after error: CacheError
  ) async throws(CacheError) -> (any StorageEngine)? {
    // Another call may have closed the engine to replace it.
    guard [.damaged, .unsupportedFormat, .closed].contains(error.code) else { return nil }
    await mutex.lock()
    defer { mutex.unlock() }
    let current = try self.engine
    if current !== engine { return current }
    let (damage, wasTried) = state.withLock { ($0.damage, $0.wasTried) }
    guard !wasTried, let damage = error.code == .closed ? damage : error else { return nil }
    do throws(CacheError) {
      let next = try await successor(of: engine, damage)
      state.withLock { $0 = next }
      return next.engine
    } catch {
      state.withLock { if error.code == .cancelled { $0.damage = damage } else { $0.failure = error } }
      throw error
    }
  }

  /// Closes `engine`, in which a call has met `damage`, and returns the state with its replacement.
  private func successor(of engine: any StorageEngine, _ damage: CacheError) async throws(CacheError) -> State {
    try await engine.close()
    do throws(CacheError) {
      let salvage = try await SalvagedEngine(plugin, configuration, reason: damage)
      return State(engine: salvage, salvage: salvage, wasTried: true)
    } catch {
      if error.code == .cancelled { throw error }
      return State(engine: try await plugin.open(configuration), wasTried: true)
    }
  }

  /// Lends the entry under `key`. An error from `body` does not count as damage met by the engine.
  public func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? {
    let result = try await reading { engine throws(CacheError) -> Result<Output, CacheError>? in
      if let found = try await Self.read(key, from: engine, body) { return found }
      guard try await isStillListed(key, by: engine), try await Self.read(key, from: engine, body) == nil else {
        return nil
      }
      throw CacheError(.damaged, "entry \(key) is listed, but not found by its key")
    }
    return try result?.get()
  }

  private static func read<Output: Sendable>(
    _ key: CacheKey, from engine: any StorageEngine,
    _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Result<Output, CacheError>? {
    try await engine.read(key) { bytes, metadata -> Result<Output, CacheError> in
      do throws(CacheError) { return .success(try body(bytes, metadata)) } catch { return .failure(error) }
    }
  }

  /// Whether the last listing returned `key`, and still does: a damaged key hides its neighbours from a search, but not
  /// from a listing.
  private func isStillListed(_ key: CacheKey, by engine: any StorageEngine) async throws(CacheError) -> Bool {
    guard let listing = listing.withLock({ $0 }), listing.keys.contains(key) else { return false }
    return try await engine.scan(listing.range, limit: listing.keys.count).contains { $0.key == key }
  }

  /// The first entries of `range`, sorted by key.
  public func scan(_ range: KeyRange, limit: Int) async throws(CacheError) -> [EntrySummary] {
    let entries = try await reading { engine throws(CacheError) in try await engine.scan(range, limit: limit) }
    listing.withLock { $0 = Listing(range: range, keys: entries.map(\.key)) }
    return entries
  }

  /// How much the store holds. Fails if the store is damaged; `StoreCount` then counts the entries.
  public func statistics() async throws(CacheError) -> StorageStatistics {
    try await reading { engine throws(CacheError) in try await engine.statistics() }
  }

  /// Lets the engine check its structure.
  public func checkIntegrity() async throws(CacheError) -> [IntegrityIssue] { try await engine.checkIntegrity() }

  /// Passes `batch` on to the engine.
  public func apply(_ batch: WriteBatch) async throws(CacheError) { try await engine.apply(batch) }

  /// Lets the engine compact the store.
  public func compact() async throws(CacheError) { try await engine.compact() }

  /// Lets the engine release memory.
  public func releaseMemory() async { await (try? engine)?.releaseMemory() }

  /// Closes the store, after any salvage under way.
  public func close() async throws(CacheError) {
    await mutex.lock()
    defer { mutex.unlock() }
    let engine = state.withLock { state in
      // Do not open the closed store again.
      state.damage = nil
      return state.engine
    }
    try await engine.close()
  }
}
