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

  /// What the store holds outside the exempt namespace: exact if `batch` could exceed the bounds, unless `mayEvict` and
  /// the store was full within the last second. Then it still counts as full, so that the batch removes what it adds.
  func held(
    adding batch: RedisBatch, _ bounds: StoreBounds, mayEvict: Bool, _ store: RedisStore
  ) throws(CacheError) -> EntryTally.Count {
    let growth = batch.growth(except: bounds.exemptNamespace)
    if let known = recent() {
      let counted = known.counted(bounds)
      let held = counted + known.growth
      let room = (bounds.maxEntries - held.entries, bounds.maxPayloadBytes - held.payloadBytes)
      if room.0 < growth.entries || room.1 < growth.payloadBytes {
        if mayEvict {
          return EntryTally.Count(
            entries: room.0 < growth.entries ? max(held.entries, bounds.maxEntries) : held.entries,
            payloadBytes: room.1 < growth.payloadBytes
              ? max(held.payloadBytes, bounds.maxPayloadBytes) : held.payloadBytes)
        }
      }
      let sum = known.growth + growth
      if sum.entries <= (bounds.maxEntries - counted.entries) / Self.writers,
        sum.payloadBytes <= (bounds.maxPayloadBytes - counted.payloadBytes) / Self.writers
      {
        add(growth)
        return held
      }
    }
    let namespaces = try store.count().namespaces
    let fresh = Known(namespaces: namespaces, time: .now, growth: growth)
    known.withLock { $0 = fresh }
    return fresh.counted(bounds)
  }

  /// What was counted within the last second.
  private func recent() -> Known? {
    known.withLock { known in known.flatMap { $0.time.duration(to: .now) < Self.lifetime ? $0 : nil } }
  }

  private func add(_ growth: EntryTally.Count) {
    known.withLock { if let sum = $0?.growth { $0?.growth = sum + growth } }
  }
}
