internal import StorageSPI
internal import Synchronization

/// What all parts of a cluster held when they were last asked; bounds apply to all parts together.
///
/// A writer far from its bounds need not ask again for a second.
final class RedisHoldings: Sendable {
  private struct Known {
    let namespaces: [String: EntryTally.Count]
    let time: ContinuousClock.Instant
    /// How much this handle may have added since.
    var growth = EntryTally.Count()
    /// How much more this handle has evicted since than it has added.
    var spare = EntryTally.Count()

    /// What the store held when it was counted.
    func counted(_ bounds: StoreBounds) -> EntryTally.Count {
      namespaces.reduce(EntryTally.Count()) { $1.key == bounds.exemptNamespace ? $0 : $0 + $1.value }
    }
  }

  private let known = Mutex<Known?>(nil)
  private static let lifetime = Duration.seconds(1)
  /// The share of the room that is left which a writer may fill without asking again: with no more writers than this,
  /// the bounds are not exceeded.
  private static let writers = 64

  /// What the store holds outside the exempt namespace: exact if it was not counted within the last second. If it was nearly
  /// full then, and `mayEvict`, it counts as full, so that the batch removes what it adds.
  func held(
    adding batch: RedisBatch, _ bounds: StoreBounds, mayEvict: Bool, _ store: RedisStore
  ) throws(CacheError) -> EntryTally.Count {
    let growth = batch.growth(except: bounds.exemptNamespace)
    if let known = recent() {
      let (counted, sum) = (known.counted(bounds), known.growth + growth)
      if sum.entries <= (bounds.maxEntries - counted.entries) / Self.writers,
        sum.payloadBytes <= (bounds.maxPayloadBytes - counted.payloadBytes) / Self.writers
      {
        add(growth)
        return counted + known.growth
      }
      if mayEvict, let full = full(known, adding: growth, bounds) { return full }
    }
    let namespaces = try store.count().namespaces
    let fresh = Known(namespaces: namespaces, time: .now, growth: growth)
    known.withLock { $0 = fresh }
    return fresh.counted(bounds)
  }

  /// What a store counts as that was full within the last second, or up to a 64th of its bounds below them, so that a batch
  /// removes what it adds, unless this handle has removed as much before; `nil` if it was less full. Otherwise each batch
  /// between there and the bounds would have to count all of the store.
  private func full(_ known: Known, adding growth: EntryTally.Count, _ bounds: StoreBounds) -> EntryTally.Count? {
    let (counted, limits) = (known.counted(bounds), (bounds.maxEntries, bounds.maxPayloadBytes))
    let held = counted + known.growth
    func isFull(_ held: Int, _ growth: Int, _ limit: Int) -> Bool { held > limit - max(growth, limit / Self.writers) }
    let needs = (
      isFull(held.entries, growth.entries, limits.0), isFull(held.payloadBytes, growth.payloadBytes, limits.1)
    )
    guard needs.0 || needs.1 else { return nil }
    let isOver = counted.entries > limits.0 || counted.payloadBytes > limits.1
    if !isOver, takeSpare(growth, needs.0, needs.1) {
      return EntryTally.Count(
        entries: min(held.entries, limits.0 - growth.entries),
        payloadBytes: min(held.payloadBytes, limits.1 - growth.payloadBytes))
    }
    return EntryTally.Count(
      entries: needs.0 ? max(held.entries, limits.0) : held.entries,
      payloadBytes: needs.1 ? max(held.payloadBytes, limits.1) : held.payloadBytes)
  }

  /// Takes `growth` from what was removed before; `false` if that is too little of what there is no room for.
  private func takeSpare(_ growth: EntryTally.Count, _ needsEntries: Bool, _ needsBytes: Bool) -> Bool {
    known.withLock { known in
      guard let spare = known?.spare, !needsEntries || spare.entries >= growth.entries,
        !needsBytes || spare.payloadBytes >= growth.payloadBytes
      else { return false }
      known?.spare = EntryTally.Count(
        entries: spare.entries - growth.entries, payloadBytes: spare.payloadBytes - growth.payloadBytes)
      return true
    }
  }

  /// Notes by how much the store has changed for a batch since `time`. What was removed beyond need is room for later ones,
  /// unless it has been counted meanwhile.
  func note(_ change: EntryTally.Count, since time: ContinuousClock.Instant) {
    known.withLock { known in
      guard let spare = known?.spare, let counted = known?.time, counted <= time else { return }
      known?.spare = EntryTally.Count(
        entries: spare.entries - min(change.entries, 0), payloadBytes: spare.payloadBytes - min(change.payloadBytes, 0))
    }
  }

  /// What was counted within the last second.
  private func recent() -> Known? {
    known.withLock { known in known.flatMap { $0.time.duration(to: .now) < Self.lifetime ? $0 : nil } }
  }

  private func add(_ growth: EntryTally.Count) {
    known.withLock { if let sum = $0?.growth { $0?.growth = sum + growth } }
  }
}
