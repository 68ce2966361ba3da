internal import StorageSPI
internal import Synchronization

/// Finds expired entries little by little, so that they go without anybody's asking and without a pass over the store.
///
/// The first of each sixteen writes looks at 32 entries of the namespace that it writes to: those that come after the
/// key written, then those after them, and after the last the first again. So two entries are looked at for each that is
/// written, and a namespace is gone through faster than it can grow.
final class ExpirySweep: Sendable {
  /// How many writes there are to a look.
  static let interval = 16
  /// How many entries a look goes over.
  static let pageSize = 32
  /// More namespaces than this are not remembered.
  private static let maximumNamespaces = 64

  private struct State {
    var writes = 0
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
  /// Cost: a scan of 32 entries at each sixteenth call, else nothing.
  func expired(near key: CacheKey, at now: Timestamp) async -> [EntrySummary] {
    guard let range = nextRange(near: key) else { return [] }
    // It is not what the write is for: a store that cannot be read will tell whoever reads it.
    guard let page = try? await engine.scan(range, limit: Self.pageSize) else { return [] }
    setRange(
      KeyRange(prefix: range.prefix, after: page.count < Self.pageSize ? nil : page.last?.key), of: key.namespace)
    return page.filter { $0.metadata.state(at: now) == .expired }
  }

  private func nextRange(near key: CacheKey) -> KeyRange? {
    state.withLock { state in
      defer { state.writes += 1 }
      guard state.writes.isMultiple(of: Self.interval) else { return nil }
      return state.ranges[key.namespace] ?? KeyRange(prefix: key.namespace + "/", after: key)
    }
  }

  private func setRange(_ range: KeyRange, of namespace: String) {
    state.withLock { state in
      if state.ranges.count >= Self.maximumNamespaces { state.ranges = [:] }
      state.ranges[namespace] = range
    }
  }
}
