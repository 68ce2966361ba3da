import StorageSPI
import Synchronization

/// Bugs in how an engine keeps bounds, and its tally.
enum BoundsDefects {
  private static func bounding(
    _ name: String, _ caughtBy: [String], _ change: @escaping @Sendable (StoreBounds?) -> StoreBounds?
  ) -> Defect {
    Defect(name: name, caughtBy: caughtBy, bounds: change)
  }

  private static func changing(
    _ name: String, _ caughtBy: [String], entries: Int = 0, bytes: Int = 0
  ) -> Defect {
    bounding(name, caughtBy) { bounds in
      bounds.map {
        StoreBounds(
          maxEntries: $0.maxEntries == .max ? .max : $0.maxEntries + entries,
          maxPayloadBytes: $0.maxPayloadBytes == .max ? .max : $0.maxPayloadBytes + bytes,
          exemptNamespace: $0.exemptNamespace)
      }
    }
  }

  static let bounds = [
    bounding(
      "ignores bounds",
      [
        "bounds-entries", "bounds-bytes", "bounds-all-namespaces", "bounds-replacing", "bounds-removing",
        "bounds-exempt", "bounds-exceeded", "bounds-exceeded-persistent", "bounds-lowered", "bounds-without-changes",
        "bounds-after-compacting", "concurrent-bounds", "shared-bounds", "random-calls", "random-calls-shared",
        "eviction-spread",
      ]
    ) { _ in nil },
    changing("an entry too many", ["bounds-entries", "random-calls"], entries: 1),
    changing("an entry too few", ["bounds-entries", "bounds-removing", "random-calls", "eviction-none"], entries: -1),
    changing("a byte too many", ["bounds-bytes", "bounds-replacing", "random-calls"], bytes: 1),
    changing("a byte too few", ["bounds-bytes", "bounds-replacing", "random-calls"], bytes: -1),
    bounding("does not count movies", ["bounds-all-namespaces", "bounds-exceeded", "random-calls"]) { bounds in
      bounds.map {
        StoreBounds(maxEntries: $0.maxEntries, maxPayloadBytes: $0.maxPayloadBytes, exemptNamespace: "movies")
      }
    },
    bounding("exempts nothing", ["bounds-exempt", "concurrent-bounds", "random-calls", "eviction-own"]) { bounds in
      bounds.map { StoreBounds(maxEntries: $0.maxEntries, maxPayloadBytes: $0.maxPayloadBytes) }
    },
    bounding("bounds though there are none", ["bounds-lowered"]) { bounds in
      bounds ?? StoreBounds(maxEntries: 2, maxPayloadBytes: 60)
    },
  ]

  private static func batching(
    _ name: String, _ caughtBy: [String], _ change: @escaping @Sendable (WriteBatch) -> [WriteBatch]
  ) -> Defect {
    Defect(name: name, caughtBy: caughtBy, batches: { $0.bounds == nil ? [$0] : change($0) })
  }

  static let evictions = [
    Defect(
      name: "evicts the newest",
      caughtBy: ["eviction-order", "eviction-bytes", "eviction-expired", "eviction-large", "eviction-history"],
      order: { _ in EvictionOrder(.most(.storedAt)) }),
    Defect(
      name: "miscounts evictions", caughtBy: ["eviction-none", "eviction-own", "eviction-concurrent"],
      evictions: { $0 + 1 }),
    Defect(name: "forgets uses", caughtBy: ["eviction-uses"], uses: { _ in [] }),
    bounding("makes far more room than is needed", ["eviction-spread", "eviction-none"]) { bounds in
      bounds.map {
        StoreBounds(
          maxEntries: $0.maxEntries / 2, maxPayloadBytes: $0.maxPayloadBytes, exemptNamespace: $0.exemptNamespace)
      }
    },
  ]

  /// A batch without operations that only has the bounds of `batch`, and `batch` without them.
  private static func divided(_ batch: WriteBatch) -> (check: WriteBatch, changes: WriteBatch) {
    var (check, changes) = (WriteBatch(), batch)
    check.bounds = batch.bounds
    changes.bounds = nil
    return (check, changes)
  }

  static let batches = [
    batching("changes, then looks", ["bounds-exceeded", "bounds-exceeded-persistent", "concurrent-bounds"]) { batch in
      let (check, changes) = divided(batch)
      return [changes, check]
    },
    batching("looks, then changes", ["bounds-entries", "bounds-removing", "concurrent-bounds", "shared-bounds"]) {
      let (check, changes) = divided($0)
      return [check, changes]
    },
    batching("no changes, no bounds", ["bounds-without-changes"]) { $0.operations.isEmpty ? [] : [$0] },
    batching("each change within the bounds", ["bounds-replacing", "random-calls"]) { batch in
      batch.operations.map { operation in
        WriteBatch([operation], within: batch.bounds)
      }
    },
    Defect(
      name: "says nothing of exceeded bounds",
      caughtBy: ["bounds-entries", "bounds-exceeded", "random-calls", "eviction-refused"],
      batchError: { $0.code == .overBounds ? nil : $0 }),
    Defect(
      name: "exceeded bounds are just no space", caughtBy: ["bounds-bytes"],
      batchError: { $0.code == .overBounds ? CacheError(.noSpace, "it is full") : $0 }),
  ]

  private static func forgetting(
    _ name: String, _ caughtBy: [String], _ isForgotten: @escaping @Sendable (EntryTally.Slot) -> Bool
  ) -> Defect {
    Defect(
      name: name, caughtBy: caughtBy,
      statistics: { statistics in
        var tally = EntryTally()
        for (slot, count) in statistics.tally.slots where !isForgotten(slot) { tally.add(count, to: slot) }
        return StorageStatistics(tally: tally, storageBytes: statistics.storageBytes)
      })
  }

  static var tallies: [Defect] {
    let largest = Largest()
    let last = Timestamp.distantFuture.milliseconds >> EntryTally.slotBits
    return [
      forgetting("counts nothing that never ends", ["tally-ends-of-time", "tally-random-batches"]) {
        $0.retainSlot == last
      },
      forgetting("counts nothing from before 1970-01-01T00:18", ["tally-ends-of-time"]) { $0.freshSlot == 0 },
      forgetting("counts only what is fresh for less than it is kept", ["tally-slot-borders", "tally-reopened"]) {
        $0.freshSlot >= $0.retainSlot
      },
      forgetting("does not count what has expired", ["tally-of-expired"]) { slot in
        slot.state(at: Timestamp(milliseconds: 4_102_444_800_000).advanced(by: .seconds(6_000))) == .expired
      },
      Defect(
        name: "never counts less", caughtBy: ["tally-random-batches", "tally-shared", "tally-of-expired"],
        statistics: { statistics in
          StorageStatistics(tally: largest.replaced(by: statistics.tally), storageBytes: statistics.storageBytes)
        }),
      Defect(
        name: "keeps what a batch did before it failed", caughtBy: ["tally-of-failed-batches"],
        batches: { batch in batch.operations.map { WriteBatch([$0], within: nil) } }),
    ]
  }
}

/// Remembers the tally of the most entries.
private final class Largest: Sendable {
  private let tally = Mutex(EntryTally())

  func replaced(by other: EntryTally) -> EntryTally {
    tally.withLock { tally in
      if other.total().entries > tally.total().entries { tally = other }
      return tally
    }
  }
}
