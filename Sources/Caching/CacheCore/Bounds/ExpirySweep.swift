internal import EngineAPI
internal import Synchronization

/// Finds expired entries a few at a time, so that they are removed without a command and without a pass over the store.
///
/// Now and then a write looks at sixteen entries of its namespace: first those after its key (in an
/// ordered store), then the next ones, and after the last entry the first ones again. The first write looks. As long as looks find something, every eighth
/// write looks: two entries for each one written, so a namespace is scanned faster than it can grow. If a look finds
/// nothing, the number of writes until the next one doubles, up to 1,024. If the engine knows that nothing in the namespace
/// can have expired, a look scans nothing.
final class ExpirySweep: Sendable {
  /// The number of entries in one look.
  static let pageSize = 16
  /// The number of writes from a look that found something to the next look.
  static let shortestInterval = 8
  /// The largest number of writes between two looks.
  static let longestInterval = 1_024
  /// The number of namespaces to remember.
  private static let maximumNamespaces = 64
  /// How long to trust a pass over the store: another process may have stored an entry since that expires earlier.
  static let trust = Duration.seconds(60)

  private struct State {
    var writesToLook = 0
    var interval = ExpirySweep.shortestInterval
    /// Where to look next in each namespace; `nil` at its beginning.
    var positions: [String: String?] = [:]
    /// When the last pass over the whole store ended; `nil` if there was none.
    var passEnd: Timestamp?
    /// When the first entry expires that it has met, or that was stored since; perhaps it has.
    var earliestExpiry = Timestamp.distantFuture
  }

  private let engine: any StorageEngine
  private let isOrdered: Bool
  private let state = Mutex(State())

  init(engine: any StorageEngine, isOrdered: Bool) {
    self.engine = engine
    self.isOrdered = isOrdered
  }

  /// The expired entries that a write of `key` should also remove; usually none.
  ///
  /// Cost: a count and perhaps a scan of sixteen entries in the calls that look, otherwise nothing.
  func expired(near key: CacheKey, at now: Timestamp) async -> [ScannedEntry] {
    guard isTimeToLook() else { return [] }
    let namespace = key.namespace
    // The write must not fail for this. If the store cannot be read, the next read reports it.
    guard let count = try? await engine.count()[namespace], count.earliestExpiry <= now else { return [] }
    let known = state.withLock { $0.positions[namespace] }
    let position: String? = if let known { known } else { isOrdered ? key.text : nil }
    let request = ScanRequest(prefix: namespace + "/", after: position, limit: Self.pageSize)
    guard let page = try? await engine.scan(request) else { return [] }
    let expired = page.entries.filter { $0.metadata.state(at: now) == .expired }
    state.withLock { state in
      if state.positions.count >= Self.maximumNamespaces { state.positions = [:] }
      state.positions[namespace] = .some(page.next)
      guard !expired.isEmpty else { return }
      state.interval = Self.shortestInterval
      state.writesToLook = state.interval - 1
    }
    return expired
  }

  private func isTimeToLook() -> Bool {
    state.withLock { state in
      if state.writesToLook > 0 {
        state.writesToLook -= 1
        return false
      }
      state.interval = min(2 * state.interval, Self.longestInterval)
      state.writesToLook = state.interval - 1
      return true
    }
  }
}

/// What is known of the whole store. The engine knows a time before which no entry expires, but it may be too early, and
/// stay so for long: it is a bound. So a pass over the store remembers what it has found.
extension ExpirySweep {
  /// Whether something may have expired at `now` in a store that holds `count`, without leases.
  func mayFindExpired(in count: StoreCount, at now: Timestamp) -> Bool {
    guard count.total().earliestExpiry <= now else { return false }
    return state.withLock { state in
      guard let end = state.passEnd, end <= now, now < end.advanced(by: Self.trust) else { return true }
      return state.earliestExpiry <= now
    }
  }

  /// Begins a pass over the whole store.
  func beginPass() {
    state.withLock { state in
      state.passEnd = nil
      state.earliestExpiry = .distantFuture
    }
  }

  /// Notes that the pass has ended, and when the first entry expires that it has met.
  func endPass(earliestExpiry: Timestamp, at now: Timestamp) {
    state.withLock { state in
      state.passEnd = now
      state.earliestExpiry = min(state.earliestExpiry, earliestExpiry)
    }
  }

  /// Notes the times at which the entries of `batch` expire, which is being applied.
  func note(_ batch: WriteBatch) {
    state.withLock { state in
      for operation in batch.operations {
        switch operation {
        case .put(_, _, let metadata), .update(_, let metadata, _):
          state.earliestExpiry = min(state.earliestExpiry, metadata.retainUntil)
        case .remove, .require: continue
        }
      }
    }
  }
}
