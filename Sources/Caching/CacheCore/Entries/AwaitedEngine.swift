package import EngineAPI
internal import Synchronization

/// Takes the place of an engine that could not be opened, such as one whose server is away. A call opens the store if that
/// is possible by then, and fails with the reason if not. During an attempt, and for a second after it, all other calls
/// fail with the reason of the one before: none of them waits for a server that can be silent.
package final class AwaitedEngine: StorageEngine {
  private enum State {
    case away(CacheError, since: Timestamp?)
    case trying(CacheError)
    case open(any StorageEngine)
    case closed
  }

  /// How long after an attempt the next one can be made: each can take until a connection times out.
  package static let pause = Duration.seconds(1)

  private let clock: any WallClock
  private let openStore: @Sendable (CacheError) async throws(CacheError) -> any StorageEngine
  private let state: Mutex<State>

  /// An engine that `open` has just failed to open because of `reason`; with `nil`, the first call opens it. `open` gets
  /// the reason of the last failure.
  package init(
    after reason: CacheError?, clock: any WallClock,
    _ open: @escaping @Sendable (CacheError) async throws(CacheError) -> any StorageEngine
  ) {
    self.clock = clock
    openStore = open
    state = Mutex(
      .away(reason ?? CacheError(.closed, "the store is not opened yet"), since: reason == nil ? nil : clock.now))
  }

  /// Why the store cannot be opened; `nil` if it is open, or was closed.
  var failure: CacheError? {
    state.withLock { state in
      switch state {
      case .open, .closed: nil
      case .trying(let reason), .away(let reason, _): reason
      }
    }
  }

  /// Opens the store if that is due. If it cannot be opened, `failure` says why.
  func openNow() async { _ = try? await engine }

  /// Closes the engine because of `reason`. The next call opens it again.
  func reopen(after reason: CacheError) async {
    let last = state.withLock { state -> (any StorageEngine)? in
      guard case .open(let engine) = state else { return nil }
      state = .trying(reason)
      return engine
    }
    guard let last else { return }
    try? await last.close()
    state.withLock { if case .trying = $0 { $0 = .away(reason, since: nil) } }
  }

  /// The engine, opened if that is due.
  private var engine: any StorageEngine {
    get async throws(CacheError) {
      let reason: CacheError
      switch try began() {
      case .open(let engine): return engine
      case .trying(let last), .away(let last, _): reason = last
      case .closed: throw .storeClosed
      }
      do throws(CacheError) {
        let engine = try await openStore(reason)
        let isUsed = state.withLock { state in
          guard case .trying = state else { return false }
          state = .open(engine)
          return true
        }
        if isUsed { return engine }
        try await engine.close()
        throw .storeClosed
      } catch {
        // A cancelled attempt says nothing of the server.
        let last = error.code == .cancelled ? reason : error
        state.withLock { if case .trying = $0 { $0 = .away(last, since: clock.now) } }
        throw error
      }
    }
  }

  /// The state if the store is open. If not, the caller makes the next attempt, and gets the reason of the last one.
  private func began() throws(CacheError) -> State {
    try state.withLock { state throws(CacheError) in
      switch state {
      case .open, .closed: break
      case .trying(let reason): throw reason
      case .away(let reason, let since):
        // A clock that was set back ends the pause.
        if let since, since <= clock.now, clock.now < since.advanced(by: Self.pause) { throw reason }
        state = .trying(reason)
      }
      return state
    }
  }

  package func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? { try await engine.read(key, body) }

  package func apply(_ batch: WriteBatch) async throws(CacheError) {
    // Nearly always open: then there is one wait less.
    if let opened { try await opened.apply(batch) } else { try await engine.apply(batch) }
  }

  package func scan(_ request: ScanRequest) async throws(CacheError) -> ScanPage { try await engine.scan(request) }

  package func count() async throws(CacheError) -> StoreCount { try await engine.count() }

  package func check() async throws(CacheError) -> [IntegrityIssue] { try await engine.check() }

  package func compact() async throws(CacheError) { try await engine.compact() }

  package func changeCount() throws(CacheError) -> UInt64? { try opened?.changeCount() }

  package func changeMark(of key: CacheKey) -> ChangeMark? { opened?.changeMark(of: key) }

  /// The engine; `nil` while the store is not open. Cost: a lock.
  var opened: (any StorageEngine)? {
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
