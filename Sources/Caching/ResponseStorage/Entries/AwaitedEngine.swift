package import StorageSPI
internal import Synchronization

/// Stands in for an engine whose server was away when the store was opened. A call opens the store if the server is
/// back by then, and fails with the reason if not; for a second after each attempt, all calls fail with its reason.
package final class AwaitedEngine: StorageEngine {
  private enum State {
    case away(CacheError, since: Timestamp)
    case open(any StorageEngine)
    case closed
  }

  /// How long after an attempt the next one may be made: each may take until a connection times out.
  package static let pause = Duration.seconds(1)

  private let clock: any WallClock
  private let openStore: @Sendable () async throws(CacheError) -> any StorageEngine
  private let state: Mutex<State>
  /// Held by the call that tries to open the store.
  private let attempts = AsyncMutex()

  /// An engine that `open` has just failed to open, because of `reason`.
  package init(
    after reason: CacheError, clock: any WallClock,
    _ open: @escaping @Sendable () async throws(CacheError) -> any StorageEngine
  ) {
    (self.clock, openStore) = (clock, open)
    state = Mutex(.away(reason, since: clock.now))
  }

  /// The engine, opened if it has to be.
  private var engine: any StorageEngine {
    get async throws(CacheError) {
      if let engine = try current { return engine }
      await attempts.lock()
      defer { attempts.unlock() }
      if let engine = try current { return engine }
      do throws(CacheError) {
        let engine = try await openStore()
        state.withLock { $0 = .open(engine) }
        return engine
      } catch {
        if error.code != .cancelled { state.withLock { $0 = .away(error, since: clock.now) } }
        throw error
      }
    }
  }

  /// The engine if it is open; `nil` if it is time for another attempt.
  private var current: (any StorageEngine)? {
    get throws(CacheError) {
      switch state.withLock({ $0 }) {
      case .open(let engine): return engine
      case .closed: throw .storeClosed
      case .away(let reason, let since):
        // A clock that was set back ends the pause.
        if since <= clock.now, clock.now < since.advanced(by: Self.pause) { throw reason }
        return nil
      }
    }
  }

  package func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? { try await engine.read(key, body) }

  package func apply(_ batch: WriteBatch) async throws(CacheError) { try await engine.apply(batch) }

  package func scan(_ range: KeyRange, limit: Int) async throws(CacheError) -> [EntrySummary] {
    try await engine.scan(range, limit: limit)
  }

  package func statistics() async throws(CacheError) -> StorageStatistics { try await engine.statistics() }

  package func checkIntegrity() async throws(CacheError) -> [IntegrityIssue] { try await engine.checkIntegrity() }

  package func compact() async throws(CacheError) { try await engine.compact() }

  package func close() async throws(CacheError) {
    await attempts.lock()
    defer { attempts.unlock() }
    let last = state.withLock { state in
      defer { state = .closed }
      return state
    }
    if case .open(let engine) = last { try await engine.close() }
  }
}
