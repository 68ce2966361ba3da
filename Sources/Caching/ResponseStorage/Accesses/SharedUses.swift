internal import StorageSPI
internal import Synchronization

/// Sends uses to an engine that keeps them for all who share its store, a few hundred entries at a time, or what
/// has come in a few seconds: reading never writes, and no reader waits for it.
///
/// What cannot be sent is lost. Uses decide over the order of eviction, and nothing else.
final class SharedUses: Sendable {
  /// How many entries to collect before their uses are sent.
  static let batchSize = 256
  /// How long a use waits for others at most, if another one comes: a few entries in constant use must not look unused.
  static let patience = Duration.seconds(5)
  /// The most entries to collect while uses are on their way. The uses of others are lost.
  private static let maximumPending = 1 << 14

  private struct State {
    var pending: [CacheKey: EntryUse] = [:]
    /// When the first of them was added.
    var since = Timestamp(milliseconds: 0)
    var sending: Task<Void, Never>?
  }

  private let engine: any Evicting
  private let state = Mutex(State())

  /// Creates a collection for `engine`; `nil` if it keeps no uses.
  init?(_ engine: (any Evicting)?) {
    guard let engine else { return nil }
    self.engine = engine
  }

  /// Adds a use of the entry under `key`. Cost: a look-up in a table.
  func add(_ key: CacheKey, at now: Timestamp) {
    state.withLock { state in
      if state.pending.isEmpty { state.since = now }
      if var use = state.pending[key] {
        use.count = use.count.saturatingSum(1)
        use.lastUsedAt = max(use.lastUsedAt, now)
        state.pending[key] = use
      } else if state.pending.count < Self.maximumPending {
        state.pending[key] = EntryUse(key, lastUsedAt: now)
      }
      // A clock that was set back must not stop them.
      let isDue =
        state.pending.count >= Self.batchSize || now < state.since || now >= state.since.advanced(by: Self.patience)
      guard isDue, state.sending == nil else { return }
      let uses = Self.take(&state)
      state.sending = Task {
        try? await engine.add(uses)
        self.state.withLock { $0.sending = nil }
      }
    }
  }

  /// Sends what was collected.
  func flush() async {
    await state.withLock { $0.sending }?.value
    let uses = state.withLock { Self.take(&$0) }
    if !uses.isEmpty { try? await engine.add(uses) }
  }

  private static func take(_ state: inout State) -> [EntryUse] {
    defer { state.pending = [:] }
    return Array(state.pending.values)
  }
}
