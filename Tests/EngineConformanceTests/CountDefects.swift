import EngineAPI
import Synchronization

/// Bugs in how an engine keeps bounds.
enum BoundsDefects {
  private static func bounding(
    _ name: String, _ caughtBy: [String], _ change: @escaping @Sendable (StoreBounds?) -> StoreBounds?
  ) -> Defect {
    Defect(
      name: name, caughtBy: caughtBy,
      batches: { batch, _ in
        var changed = batch
        changed.bounds = change(batch.bounds)
        return [changed]
      })
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
        "bounds-of-entries", "bounds-of-bytes", "bounds", "bounds-exempt", "bounds-lowered", "concurrent-bounds",
        "random-calls", "random-calls-shared",
      ]
    ) { _ in nil },
    changing("an entry too many", ["bounds-of-entries", "random-calls"], entries: 1),
    changing("an entry too few", ["bounds-of-entries", "bounds", "random-calls"], entries: -1),
    changing("a byte too many", ["bounds-of-bytes", "bounds", "random-calls"], bytes: 1),
    changing("a byte too few", ["bounds-of-bytes", "bounds", "random-calls"], bytes: -1),
    bounding("does not count movies", ["bounds", "random-calls"]) { bounds in
      bounds.map {
        StoreBounds(maxEntries: $0.maxEntries, maxPayloadBytes: $0.maxPayloadBytes, exemptNamespace: "movies")
      }
    },
    bounding("exempts nothing", ["bounds-exempt", "concurrent-bounds", "random-calls"]) { bounds in
      bounds.map { StoreBounds(maxEntries: $0.maxEntries, maxPayloadBytes: $0.maxPayloadBytes) }
    },
    bounding("bounds though there are none", ["bounds-lowered"]) { bounds in
      bounds ?? StoreBounds(maxEntries: 2, maxPayloadBytes: 60)
    },
  ]

  private static func batching(
    _ name: String, _ caughtBy: [String], _ change: @escaping @Sendable (WriteBatch) -> [WriteBatch]
  ) -> Defect {
    Defect(name: name, caughtBy: caughtBy, batches: { batch, _ in batch.bounds == nil ? [batch] : change(batch) })
  }

  /// A batch without operations that only has the bounds of `batch`, and `batch` without them.
  private static func divided(_ batch: WriteBatch) -> (check: WriteBatch, changes: WriteBatch) {
    (WriteBatch([], within: batch.bounds), WriteBatch(batch.operations, within: nil))
  }

  static let batches = [
    batching("changes, then looks", ["bounds", "concurrent-bounds"]) { batch in
      let (check, changes) = divided(batch)
      return [changes, check]
    },
    batching("looks, then changes", ["bounds-of-entries", "bounds", "concurrent-bounds"]) {
      let (check, changes) = divided($0)
      return [check, changes]
    },
    batching("no changes, no bounds", ["bounds"]) { $0.operations.isEmpty ? [] : [$0] },
    batching("each change within the bounds", ["bounds", "random-calls"]) { batch in
      batch.operations.map { WriteBatch([$0], within: batch.bounds) }
    },
    Defect(
      name: "says nothing of exceeded bounds", caughtBy: ["bounds-of-entries", "bounds", "random-calls"],
      batchError: { $0.code == .overBounds ? nil : $0 }),
    Defect(
      name: "exceeded bounds are just no space", caughtBy: ["bounds-of-bytes"],
      batchError: { $0.code == .overBounds ? CacheError(.noSpace, "it is full") : $0 }),
  ]
}

/// Bugs in how an engine expires and counts.
enum CountDefects {
  /// A clock that is wrong by `offset`.
  private struct WrongClock: WallClock {
    let base: any WallClock
    let offset: Duration
    var now: Timestamp { base.now.advanced(by: offset) }
  }

  private static func clock(_ name: String, _ caughtBy: [String], _ offset: Duration) -> Defect {
    Defect(name: name, caughtBy: caughtBy, clock: { WrongClock(base: $0, offset: offset) })
  }

  static let expiry = [
    clock("a millisecond early", ["expiry", "expiry-far"], .milliseconds(1)),
    clock("a millisecond late", ["expiry", "expiry-of-many"], .milliseconds(-1)),
    clock("an hour early", ["expiry", "expiry-far"], .seconds(3_600)),
    clock("two hours early", ["expiry-moves"], .seconds(7_190)),
    Defect(
      name: "never compacts",
      caughtBy: ["expiry", "expiry-of-many", "reopen", "random-calls"],
      compacts: false),
  ]

  /// Changes the count of each namespace.
  private static func counting(
    _ name: String, _ caughtBy: [String], _ change: @escaping @Sendable (String, inout EntryCount) -> Void
  ) -> Defect {
    Defect(
      name: name, caughtBy: caughtBy,
      count: { count, _, _ in
        var changed = count
        for (namespace, part) in count.namespaces {
          var part = part
          change(namespace, &part)
          changed[namespace] = part
        }
        return changed
      })
  }

  /// Counts the entries that `isCounted` accepts.
  private static func omitting(
    _ name: String, _ caughtBy: [String], _ isCounted: @escaping @Sendable (EntryMetadata, Timestamp) -> Bool
  ) -> Defect {
    Defect(
      name: name, caughtBy: caughtBy,
      count: { count, base, now throws(CacheError) in
        var changed = StoreCount(storageBytes: count.storageBytes)
        for entry in try await base.scan(ScanRequest()).entries where isCounted(entry.metadata, now) {
          changed[entry.key.namespace].add(payloadBytes: entry.payloadBytes, retainUntil: entry.metadata.retainUntil)
        }
        return changed
      })
  }

  private static func takingUp(_ name: String, _ caughtBy: [String], _ bytes: Int) -> Defect {
    Defect(
      name: name, caughtBy: caughtBy,
      count: { count, _, _ in StoreCount(namespaces: count.namespaces, storageBytes: bytes) })
  }

  static var counts: [Defect] {
    let largest = Mutex(StoreCount())
    return [
      counting("one entry too many", ["count", "read-and-remove", "random-calls"]) { $1.entries += 1 },
      counting("wrong sums", ["count", "payload-bytes", "random-calls"]) { $1.payloadBytes += 1 },
      counting("no movies", ["count"]) { if $0 == "movies" { $1.entries = 0 } },
      counting("the earliest end a millisecond late", ["count", "random-calls"]) {
        $1.earliestExpiry = $1.earliestExpiry.advanced(by: .milliseconds(1))
      },
      counting("never raises the earliest end", ["count-of-expired", "expiry-of-many"]) {
        $1.earliestExpiry = Timestamp(milliseconds: 1)
      },
      omitting("counts no expired entry", ["count-of-expired"]) { $0.state(at: $1) != .expired },
      omitting("counts nothing that never ends", ["count-ends-of-time", "expiry-far"]) { metadata, _ in
        metadata.retainUntil != .distantFuture
      },
      Defect(
        name: "never counts less", caughtBy: ["count", "read-and-remove", "random-calls"],
        count: { count, _, _ in
          largest.withLock {
            if count.entries > $0.entries { $0 = count }
            return $0
          }
        }),
      takingUp("takes up nothing", ["count-storage-bytes"], 0),
      takingUp("never gets smaller", ["compact-gives-space-back"], 10_000_000),
      Defect(
        name: "finds damage", caughtBy: ["check-of-intact-store", "concurrent-everything", "random-calls"],
        issues: { $0 + [IntegrityIssue(kind: .structure, message: "a page is never used")] }),
    ]
  }

  private static func changes(
    _ name: String, _ caughtBy: [String], _ change: @escaping @Sendable (UInt64, HandleCalls) -> UInt64?
  ) -> Defect {
    Defect(name: name, caughtBy: caughtBy, changeCount: change)
  }

  static let changeCounts = [
    changes("counts nothing", ["change-count-advances", "shared-change-count"]) { _, _ in 7 },
    changes("counts every other change", ["change-count-advances", "shared-change-count"]) { count, _ in count / 2 },
    changes("begins again after three changes", ["change-count-advances", "shared-change-count"]) { count, _ in
      count % 3
    },
    changes("can never tell the number of changes", ["change-count-advances", "shared-change-count"]) { _, _ in nil },
    changes("counts the changes of its own handle alone", ["shared-change-count"]) { _, calls in calls.batches },
    changes("counts reads as changes", ["change-count-stays"]) { count, calls in count + calls.reads },
    Defect(
      name: "counts a change before it can be read", caughtBy: ["change-count-late"],
      changeCount: { _, calls in calls.begun }, countsEarly: true),
    Defect(name: "counts changes when it is closed", caughtBy: ["change-count-closed"], countsWhenClosed: true),
    Defect(
      name: "misses the changes of others", caughtBy: ["shared-change-mark"],
      mark: { ChangeMark(number: 7, age: $0.age) }),
    Defect(
      name: "marks nothing twice alike", caughtBy: ["change-mark-stays"],
      mark: { ChangeMark(number: .random(in: 0 ... .max), age: $0.age) }),
  ]
}
