internal import StorageSPI
internal import Synchronization

/// The last count of all parts of a cluster; bounds apply to all parts together.
///
/// A writer that is far from its bounds need not count again for a second.
final class RedisHoldings: Sendable {
  private struct Known {
    /// The count of all entries outside the namespace `exempt`.
    let counted: SlotTally.Count
    let exempt: String?
    let time: ContinuousClock.Instant
    /// How much this handle had added when the counting began.
    let addedBefore: SlotTally.Count
  }

  private struct State {
    var known: Known?
    /// How much this handle may have added so far.
    var added = SlotTally.Count()
  }

  private let state = Mutex(State())
  private static let lifetime = Duration.seconds(1)
  /// The share of the room that is left which a writer may fill without asking again: with no more writers than this,
  /// the bounds are not exceeded.
  private static let writers = 64

  /// The count outside the exempt namespace before a batch that adds up to `growth`. It is exact unless the store was
  /// counted within the last second.
  func held(
    adding growth: SlotTally.Count, _ bounds: StoreBounds, _ store: RedisStore
  ) throws(CacheError) -> SlotTally.Count {
    let known = state.withLock { state -> SlotTally.Count? in
      guard let known = state.known, known.exempt == bounds.exemptNamespace,
        known.time.duration(to: .now) < Self.lifetime
      else { return nil }
      let before = state.added - known.addedBefore
      let after = before + growth
      guard after.entries <= (bounds.maxEntries - known.counted.entries) / Self.writers,
        after.payloadBytes <= (bounds.maxPayloadBytes - known.counted.payloadBytes) / Self.writers
      else { return nil }
      state.added = state.added + growth
      return known.counted + before
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
}

extension StoreBounds {
  /// Whether a store that holds `count` is beyond the bounds.
  func areExceeded(by count: SlotTally.Count) -> Bool {
    count.entries > maxEntries || count.payloadBytes > maxPayloadBytes
  }
}
