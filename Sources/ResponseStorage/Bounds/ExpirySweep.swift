internal import StorageSPI
internal import Synchronization

/// Finds expired entries little by little, so that they go without anybody's asking and without a pass over the store.
///
/// Now and then a write looks at sixteen entries of the namespace that it writes to: those that come after the key
/// written, then those after them, and after the last the first again. The first write looks; then the eighth, as long
/// as a look finds something. So two entries are looked at for each that is written, and a namespace is gone through
/// faster than it can grow. Where a look finds nothing, the next one comes after twice as many writes, 1,024 at most, so
/// that a cache in which nothing expires pays next to nothing.
final class ExpirySweep: Sendable {
  /// How many entries a look goes over.
  static let pageSize = 16
  /// After how many writes another look follows one that found something.
  static let shortestInterval = 8
  /// After how many writes there is another look at the latest.
  static let longestInterval = 1_024
  /// More namespaces than this are not remembered.
  private static let maximumNamespaces = 64

  private struct State {
    var writesToLook = 0
    var interval = ExpirySweep.shortestInterval
    /// Where to go on in each namespace.
    var ranges: [String: KeyRange] = [:]
  }

  private let engine: any StorageEngine
  private let state = Mutex(State())

  init(engine: any StorageEngine) {
    self.engine = engine
  }

  /// The entries that a write of `key` should remove too, because they are expired at `now`; mostly none.
  ///
  /// Cost: a scan of sixteen entries at the calls that look, else nothing.
  func expired(near key: CacheKey, at now: Timestamp) async -> [EntrySummary] {
    guard let range = nextRange(near: key) else { return [] }
    // It is not what the write is for: a store that cannot be read will tell whoever reads it.
    guard let page = try? await engine.scan(range, limit: Self.pageSize) else { return [] }
    let expired = page.filter { $0.metadata.state(at: now) == .expired }
    let last = page.count < Self.pageSize ? nil : page.last?.key
    note(KeyRange(prefix: range.prefix, after: last), of: key.namespace, hasFound: !expired.isEmpty)
    return expired
  }

  private func nextRange(near key: CacheKey) -> KeyRange? {
    state.withLock { state in
      defer { state.writesToLook -= 1 }
      guard state.writesToLook == 0 else { return nil }
      state.writesToLook = state.interval
      return state.ranges[key.namespace] ?? KeyRange(prefix: key.namespace + "/", after: key)
    }
  }

  private func note(_ range: KeyRange, of namespace: String, hasFound: Bool) {
    state.withLock { state in
      if state.ranges.count >= Self.maximumNamespaces { state.ranges = [:] }
      state.ranges[namespace] = range
      state.interval = hasFound ? Self.shortestInterval : min(2 * state.interval, Self.longestInterval)
      state.writesToLook = state.interval - 1
    }
  }
}
