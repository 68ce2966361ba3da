package import StorageSPI
internal import Synchronization

/// Stands in for an engine whose server was away when the store was opened. A call opens the store if the server is
/// back by then, and fails with the reason if not. During an attempt, and for a second after it, all other calls fail with
/// the reason of the one before: none of them waits for a server that may be silent.
package final class AwaitedEngine: StorageEngine {
  private enum State {
    case away(CacheError, since: Timestamp)
    case trying(CacheError)
    case open(any StorageEngine)
    case closed
  }

  /// How long after an attempt the next one may be made: each may take until a connection times out.
  package static let pause = Duration.seconds(1)

  private let clock: any WallClock
  private let openStore: @Sendable () async throws(CacheError) -> any StorageEngine
  private let state: Mutex<State>

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

  package func scan(_ request: ScanRequest) async throws(CacheError) -> ScanPage { try await engine.scan(request) }

  package func count() async throws(CacheError) -> StoreCount { try await engine.count() }

  package func check() async throws(CacheError) -> [IntegrityIssue] { try await engine.check() }

  package func compact() async throws(CacheError) { try await engine.compact() }

  package func changeCount() throws(CacheError) -> UInt64? { try opened?.changeCount() }

  package func changeMark(of key: CacheKey) -> ChangeMark? { opened?.changeMark(of: key) }

  /// The engine; `nil` until the store is open.
  private var opened: (any StorageEngine)? {
    state.withLock { if case .open(let engine) = $0 { engine } else { nil } }
  }

  package func close() async throws(CacheError) {
    let last = state.withLock { state in
      defer { state = .closed }
      return state
    }
    if case .open(let engine) = last { try await engine.close() }
  }
}
