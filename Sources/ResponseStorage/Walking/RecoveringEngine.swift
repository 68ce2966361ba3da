public import StorageSPI
internal import Synchronization

/// An engine that is only read, and that goes on past damage: from the first call that meets damage on it gives what a
/// repair would save.
///
/// The store is closed for that, as a repair needs it. Listings go on after the last key that they have, so that they
/// give each entry once. Where the engine cannot tell what a repair would save, or another process has the store open,
/// the store is opened again, and calls fail as the engine lets them fail. Where that fails too, so does every later call,
/// for the same reason; after a cancellation the next call tries again.
public final class RecoveringEngine: StorageEngine {
  private struct State {
    var engine: any StorageEngine
    var salvage: SalvagedEngine?
    var wasTried = false
    /// The damage for which a cancelled call has closed the engine.
    var damage: StorageError?
    /// Why the engine could be neither closed nor replaced.
    var failure: StorageError?
  }

  private let plugin: any StoragePlugin
  private let configuration: EngineConfiguration
  private let state: Mutex<State>
  private let turns = Turns()
  private let listing = Mutex<Listing?>(nil)

  /// What a call has listed.
  private struct Listing {
    let range: KeyRange
    let keys: [CacheKey]
  }

  /// The engine over `engine`, which `plugin` has opened with `configuration`. No other handle of this process may have
  /// the store open.
  public init(_ engine: any StorageEngine, _ plugin: any StoragePlugin, _ configuration: EngineConfiguration) {
    (self.plugin, self.configuration) = (plugin, configuration)
    state = Mutex(State(engine: engine))
  }

  /// What is lost of the store; `nil` as long as no call has met damage.
  var damage: StoreDamage? { state.withLock { $0.salvage?.damage } }

  private var engine: any StorageEngine {
    get throws(StorageError) {
      let state = state.withLock { $0 }
      if let failure = state.failure { throw failure }
      return state.engine
    }
  }

  private func reading<Output: Sendable>(
    _ call: (any StorageEngine) async throws(StorageError) -> Output
  ) async throws(StorageError) -> Output {
    let engine = try engine
    do throws(StorageError) {
      return try await call(engine)
    } catch {
      guard let replacement = try await replacement(of: engine, after: error) else { throw error }
      return try await call(replacement)
    }
  }

  /// What to ask in place of `engine`, which failed with `error`; `nil` where there is nothing.
  private func replacement(
    of engine: any StorageEngine, after error: StorageError
  ) async throws(StorageError) -> (any StorageEngine)? {
    // Another call may have closed the engine in order to replace it.
    guard [.damaged, .unsupportedFormat, .closed].contains(error.code) else { return nil }
    _ = await turns.take()
    defer { turns.give() }
    let current = try self.engine
    if current !== engine { return current }
    let (damage, wasTried) = state.withLock { ($0.damage, $0.wasTried) }
    guard !wasTried, let damage = error.code == .closed ? damage : error else { return nil }
    do throws(StorageError) {
      let next = try await successor(of: engine, damage)
      state.withLock { $0 = next }
      return next.engine
    } catch {
      state.withLock { if error.code == .cancelled { $0.damage = damage } else { $0.failure = error } }
      throw error
    }
  }

  /// Closes `engine`, in which a call has met `damage`, and gives the state with what takes its place.
  private func successor(of engine: any StorageEngine, _ damage: StorageError) async throws(StorageError) -> State {
    try await engine.close()
    do throws(StorageError) {
      let salvage = try await SalvagedEngine(plugin, configuration, reason: damage)
      return State(engine: salvage, salvage: salvage, wasTried: true)
    } catch {
      if error.code == .cancelled { throw error }
      return State(engine: try await plugin.open(configuration), wasTried: true)
    }
  }

  /// Lends the entry under `key`, as the engine does. What `body` finds wrong is not damage that the engine met.
  public func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(StorageError) -> Output
  ) async throws(StorageError) -> Output? {
    let result = try await reading { engine throws(StorageError) -> Result<Output, StorageError>? in
      if let found = try await Self.read(key, from: engine, body) { return found }
      guard try await isStillListed(key, by: engine), try await Self.read(key, from: engine, body) == nil else {
        return nil
      }
      throw StorageError(
        .damaged, "entry \(key) is listed, but not found by its key",
        hint: "repair the store with: cachectl verify --repair")
    }
    return try result?.get()
  }

  private static func read<Output: Sendable>(
    _ key: CacheKey, from engine: any StorageEngine,
    _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(StorageError) -> Output
  ) async throws(StorageError) -> Result<Output, StorageError>? {
    try await engine.read(key) { bytes, metadata -> Result<Output, StorageError> in
      do throws(StorageError) { return .success(try body(bytes, metadata)) } catch { return .failure(error) }
    }
  }

  /// Whether the last listing gave `key`, and gives it again: a damaged key hides its neighbours from a search, but not
  /// from a listing.
  private func isStillListed(_ key: CacheKey, by engine: any StorageEngine) async throws(StorageError) -> Bool {
    guard let listing = listing.withLock({ $0 }), listing.keys.contains(key) else { return false }
    return try await engine.scan(listing.range, limit: listing.keys.count).contains { $0.key == key }
  }

  /// The first entries of `range`, in order.
  public func scan(_ range: KeyRange, limit: Int) async throws(StorageError) -> [EntrySummary] {
    let entries = try await reading { engine throws(StorageError) in try await engine.scan(range, limit: limit) }
    listing.withLock { $0 = Listing(range: range, keys: entries.map(\.key)) }
    return entries
  }

  /// How much the store holds. Of a damaged store it fails, and `StoreCount` counts the entries.
  public func statistics() async throws(StorageError) -> StorageStatistics {
    try await reading { engine throws(StorageError) in try await engine.statistics() }
  }

  /// Checks the structure, as the engine does.
  public func checkIntegrity() async throws(StorageError) -> [IntegrityIssue] { try await engine.checkIntegrity() }

  /// Makes the changes of `batch`, as the engine does.
  public func apply(_ batch: WriteBatch) async throws(StorageError) { try await engine.apply(batch) }

  /// Compacts the store, as the engine does.
  public func compact() async throws(StorageError) { try await engine.compact() }

  /// Releases memory, as the engine does.
  public func releaseMemory() async { await (try? engine)?.releaseMemory() }

  /// Closes the store, after a salvage that is under way.
  public func close() async throws(StorageError) {
    _ = await turns.take()
    defer { turns.give() }
    let engine = state.withLock { state in
      // A closed store is not opened again.
      state.damage = nil
      return state.engine
    }
    try await engine.close()
  }
}
