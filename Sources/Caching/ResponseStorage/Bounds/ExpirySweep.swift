internal import StorageSPI
internal import Synchronization

/// Finds expired entries a few at a time, so that they are removed without a command and without a pass over the store.
///
/// Now and then a write looks at sixteen entries of its namespace: first those after its key, then the next ones, and
/// after the last entry the first ones again. The first write looks. As long as looks find something, every eighth
/// write looks: two entries for each one written, so a namespace is scanned faster than it can grow. If a look finds
/// nothing, the number of writes until the next one doubles, up to 1,024, so a cache in which nothing expires pays
/// almost nothing.
final class ExpirySweep: Sendable {
  /// The number of entries in one look.
  static let pageSize = 16
  /// The number of writes from a look that found something to the next look.
  static let shortestInterval = 8
  /// The largest number of writes between two looks.
  static let longestInterval = 1_024
  /// The number of namespaces to remember.
  private static let maximumNamespaces = 64

  private struct State {
    var writesToLook = 0
    var interval = ExpirySweep.shortestInterval
    /// The range to look at next in each namespace.
    var ranges: [String: KeyRange] = [:]
  }

  private let engine: any StorageEngine
  private let state = Mutex(State())

  init(engine: any StorageEngine) {
    self.engine = engine
  }

  /// The expired entries that a write of `key` should also remove; usually none.
  ///
  /// Cost: a scan of sixteen entries in the calls that look, otherwise nothing.
  func expired(near key: CacheKey, at now: Timestamp) async -> [EntrySummary] {
    guard let range = nextRange(near: key) else { return [] }
    // The write must not fail for this. If the store cannot be read, the next read reports it.
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
