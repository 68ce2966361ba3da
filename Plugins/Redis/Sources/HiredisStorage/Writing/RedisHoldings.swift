internal import StorageSPI
internal import Synchronization

/// What all parts of a cluster held when they were last counted; bounds apply to all parts together.
///
/// A writer need not count again for a second, if it is far from its bounds, or if it may evict.
final class RedisHoldings: Sendable {
  private struct Known {
    /// What the store held outside the namespace `exempt`.
    let counted: EntryTally.Count
    let exempt: String?
    let time: ContinuousClock.Instant
    /// How much this handle had added when the counting began.
    let addedBefore: EntryTally.Count
    /// How much more this handle has evicted since than it has added.
    var spare = EntryTally.Count()
  }

  private struct State {
    var known: Known?
    /// How much this handle may have added so far.
    var added = EntryTally.Count()
  }

  private let state = Mutex(State())
  private static let lifetime = Duration.seconds(1)
  /// The share of the room that is left which a writer may fill without asking again: with no more writers than this,
  /// the bounds are not exceeded.
  private static let writers = 64

  /// What the store holds outside the exempt namespace before a batch that adds up to `growth`.
  ///
  /// The result is exact unless the store was counted within the last second. If the store was nearly full then and
  /// `mayEvict` is set, it is treated as full, so that the batch removes as much as it adds.
  func held(
    adding growth: EntryTally.Count, _ bounds: StoreBounds, mayEvict: Bool, _ store: RedisStore
  ) throws(CacheError) -> EntryTally.Count {
    let known = state.withLock { state -> EntryTally.Count? in
      guard let known = state.known, known.exempt == bounds.exemptNamespace,
        known.time.duration(to: .now) < Self.lifetime
      else { return nil }
      let (before, after) = (state.added - known.addedBefore, state.added - known.addedBefore + growth)
      if after.entries <= (bounds.maxEntries - known.counted.entries) / Self.writers,
        after.payloadBytes <= (bounds.maxPayloadBytes - known.counted.payloadBytes) / Self.writers
      {
        state.added = state.added + growth
        return known.counted + before
      }
      return mayEvict ? Self.full(&state.known, known.counted + before, adding: growth, bounds) : nil
    }
    if let known { return known }
    let addedBefore = state.withLock { $0.added }
    let counted = try store.total(except: bounds.exemptNamespace)
    return state.withLock { state in
      let held = counted + (state.added - addedBefore)
      state.known = Known(
        counted: counted, exempt: bounds.exemptNamespace, time: .now, addedBefore: addedBefore)
      state.added = state.added + growth
      return held
    }
  }

  /// The count to assume for a store that held `held` within the last second; `nil` unless it was full or within a 64th of
  /// its bounds.
  ///
  /// Treating a nearly full store as full saves each batch from counting the whole store. The batch then removes as much as
  /// it adds, unless this handle has already removed that much.
  private static func full(
    _ known: inout Known?, _ held: EntryTally.Count, adding growth: EntryTally.Count, _ bounds: StoreBounds
  ) -> EntryTally.Count? {
    let limits = EntryTally.Count(entries: bounds.maxEntries, payloadBytes: bounds.maxPayloadBytes)
    func isFull(_ held: Int, _ growth: Int, _ limit: Int) -> Bool { held > limit - max(growth, limit / writers) }
    let needs = (
      isFull(held.entries, growth.entries, limits.entries),
      isFull(held.payloadBytes, growth.payloadBytes, limits.payloadBytes)
    )
    guard needs.0 || needs.1, let spare = known?.spare, let counted = known?.counted else { return nil }
    if !bounds.areExceeded(by: counted), !needs.0 || spare.entries >= growth.entries,
      !needs.1 || spare.payloadBytes >= growth.payloadBytes
    {
      known?.spare = spare - growth
      return EntryTally.Count(
        entries: min(held.entries, limits.entries - growth.entries),
        payloadBytes: min(held.payloadBytes, limits.payloadBytes - growth.payloadBytes))
    }
    return EntryTally.Count(
      entries: needs.0 ? max(held.entries, limits.entries) : held.entries,
      payloadBytes: needs.1 ? max(held.payloadBytes, limits.payloadBytes) : held.payloadBytes)
  }

  /// Notes by how much the store has changed for a batch since `time`. What was removed beyond need is room for later ones,
  /// unless it has been counted meanwhile.
  func note(_ change: EntryTally.Count, since time: ContinuousClock.Instant) {
    state.withLock { state in
      guard let known = state.known, known.time <= time else { return }
      state.known?.spare = EntryTally.Count(
        entries: known.spare.entries - min(change.entries, 0),
        payloadBytes: known.spare.payloadBytes - min(change.payloadBytes, 0))
    }
  }

  /// Forgets what was counted.
  func forget() { state.withLock { $0.known = nil } }
}

extension StoreBounds {
  /// Whether a store that holds `count` is beyond the bounds.
  func areExceeded(by count: EntryTally.Count) -> Bool {
    count.entries > maxEntries || count.payloadBytes > maxPayloadBytes
  }
}

extension EntryTally.Count {
  static func - (left: Self, right: Self) -> Self {
    Self(entries: left.entries - right.entries, payloadBytes: left.payloadBytes - right.payloadBytes)
  }
}
