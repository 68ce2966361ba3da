package import StorageSPI
internal import Synchronization

/// Stands in for an engine whose server was away when the store was opened. A call opens the store if the server is
/// back by then, and fails with the reason if not. During an attempt, and for a second after it, all other calls fail with
/// the reason of the one before: none of them waits for a server that may be silent.
package final class AwaitedEngine: StorageEngine, Evicting {
  private enum State {
    case away(CacheError, since: Timestamp)
    case trying(CacheError)
    case open(any StorageEngine)
    case closed
  }

  /// How long after an attempt the next one may be made: each may take until a connection times out.
  package static let pause = Duration.seconds(1)

  private let clock: any WallClock
  private let evicts: Bool
  private let openStore: @Sendable () async throws(CacheError) -> any StorageEngine
  private let state: Mutex<State>

  /// An engine that `open` has just failed to open, because of `reason`.
  ///
  /// - Parameter evicts: whether it is declared to be `Evicting`.
  package init(
    after reason: CacheError, clock: any WallClock, evicts: Bool = false,
    _ open: @escaping @Sendable () async throws(CacheError) -> any StorageEngine
  ) {
    (self.clock, self.evicts, openStore) = (clock, evicts, open)
    state = Mutex(.away(reason, since: clock.now))
  }

  /// The engine, opened if it has to be.
  private var engine: any StorageEngine {
    get async throws(CacheError) {
      let (engine, reason) = try current()
      if let engine { return engine }
      do throws(CacheError) {
        return try await keep(try await openStore())
      } catch {
        // A cancelled attempt says nothing of the server.
        let last = error.code == .cancelled ? reason ?? error : error
        state.withLock { if case .trying = $0 { $0 = .away(last, since: clock.now) } }
        throw error
      }
    }
  }

  /// The engine if it is open. If not, the caller makes the next attempt, and gets the reason of the last one.
  private func current() throws(CacheError) -> (engine: (any StorageEngine)?, reason: CacheError?) {
    try state.withLock { state throws(CacheError) in
      switch state {
      case .open(let engine): return (engine, nil)
      case .closed: throw .storeClosed
      case .trying(let reason): throw reason
      case .away(let reason, let since):
        // A clock that was set back ends the pause.
        if since <= clock.now, clock.now < since.advanced(by: Self.pause) { throw reason }
        state = .trying(reason)
        return (nil, reason)
      }
    }
  }

  /// Uses `engine` from now on, unless this one was closed meanwhile.
  private func keep(_ engine: any StorageEngine) async throws(CacheError) -> any StorageEngine {
    let isKept = state.withLock { state in
      guard case .trying = state else { return false }
      state = .open(engine)
      return true
    }
    guard isKept else {
      try await engine.close()
      throw .storeClosed
    }
    return engine
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

  /// The engine's reader; `nil` until the store is open.
  package var batchReader: (any BatchReading)? {
    state.withLock { if case .open(let engine) = $0 { engine.batchReader } else { nil } }
  }

  /// The engine's count of changes; `nil` until the store is open.
  package var changeCounter: (any ChangeCounting)? {
    state.withLock { if case .open(let engine) = $0 { engine.changeCounter } else { nil } }
  }

  /// The engine's follower; `nil` until the store is open.
  package var changeFollower: (any ChangeFollowing)? {
    state.withLock { if case .open(let engine) = $0 { engine.changeFollower } else { nil } }
  }

  package var evictor: (any Evicting)? { evicts ? self : nil }

  /// An engine that turns out not to evict leaves the choice to the core.
  package func apply(_ batch: WriteBatch, evicting order: EvictionOrder) async throws(CacheError) -> Int {
    let engine = try await engine
    if let evictor = engine.evictor { return try await evictor.apply(batch, evicting: order) }
    try await engine.apply(batch)
    return 0
  }

  package func add(_ uses: [EntryUse]) async throws(CacheError) { try await engine.evictor?.add(uses) }

  package func close() async throws(CacheError) {
    let last = state.withLock { state in
      defer { state = .closed }
      return state
    }
    if case .open(let engine) = last { try await engine.close() }
  }
}
