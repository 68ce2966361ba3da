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
      ["random-calls", "concurrent-bounds", "random-calls-shared"]
    ) { _ in nil },
    changing("an entry too many", ["random-calls"], entries: 1),
    changing("an entry too few", ["random-calls"], entries: -1),
    changing("a byte too many", ["random-calls"], bytes: 1),
    changing("a byte too few", ["random-calls"], bytes: -1),
    bounding("does not count movies", ["random-calls"]) { bounds in
      bounds.map {
        StoreBounds(maxEntries: $0.maxEntries, maxPayloadBytes: $0.maxPayloadBytes, exemptNamespace: "movies")
      }
    },
    bounding("exempts nothing", ["random-calls"]) { bounds in
      bounds.map { StoreBounds(maxEntries: $0.maxEntries, maxPayloadBytes: $0.maxPayloadBytes) }
    },
    bounding("bounds though there are none", ["random-calls"]) { bounds in
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
    batching("changes, then looks", ["random-calls", "concurrent-bounds"]) { batch in
      let (check, changes) = divided(batch)
      return [changes, check]
    },
    batching("looks, then changes", ["random-calls", "concurrent-bounds"]) {
      let (check, changes) = divided($0)
      return [check, changes]
    },
    batching("no changes, no bounds", ["random-calls"]) { $0.operations.isEmpty ? [] : [$0] },
    batching("each change within the bounds", ["random-calls"]) { batch in
      batch.operations.map { WriteBatch([$0], within: batch.bounds) }
    },
    Defect(
      name: "says nothing of exceeded bounds", caughtBy: ["random-calls"],
      batchError: { $0.code == .overBounds ? nil : $0 }),
    Defect(
      name: "exceeded bounds are just no space", caughtBy: ["random-calls"],
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
    clock("a millisecond early", ["random-calls"], .milliseconds(1)),
    clock("a millisecond late", ["random-calls"], .milliseconds(-1)),
    clock("an hour early", ["random-calls"], .seconds(3_600)),
    clock("two hours early", ["random-calls"], .seconds(7_190)),
    Defect(
      name: "never compacts",
      caughtBy: ["random-calls"],
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
      counting("one entry too many", ["random-calls"]) { $1.entries += 1 },
      counting("wrong sums", ["random-calls", "payload-bytes"]) { $1.payloadBytes += 1 },
      counting("no movies", ["random-calls"]) { if $0 == "movies" { $1.entries = 0 } },
      counting("the earliest end a millisecond late", ["random-calls"]) {
        $1.earliestExpiry = $1.earliestExpiry.advanced(by: .milliseconds(1))
      },
      counting("never raises the earliest end", ["random-calls"]) {
        $1.earliestExpiry = Timestamp(milliseconds: 1)
      },
      omitting("counts no expired entry", ["random-calls"]) { $0.state(at: $1) != .expired },
      omitting("counts nothing that never ends", ["random-calls"]) { metadata, _ in
        metadata.retainUntil != .distantFuture
      },
      Defect(
        name: "never counts less", caughtBy: ["random-calls"],
        count: { count, _, _ in
          largest.withLock {
            if count.entries > $0.entries { $0 = count }
            return $0
          }
        }),
      takingUp("takes up nothing", ["storage-bytes"], 0),
      takingUp("never gets smaller", ["storage-bytes"], 10_000_000),
      Defect(
        name: "finds damage", caughtBy: ["random-calls", "concurrent-calls"],
        issues: { $0 + [IntegrityIssue(kind: .structure, message: "a page is never used")] }),
    ]
  }

  private static func changes(
    _ name: String, _ caughtBy: [String], _ change: @escaping @Sendable (UInt64, HandleCalls) -> UInt64?
  ) -> Defect {
    Defect(name: name, caughtBy: caughtBy, changeCount: change)
  }

  static let changeCounts = [
    changes("counts nothing", ["random-calls", "random-calls-shared"]) { _, _ in 7 },
    changes("counts every other change", ["random-calls", "random-calls-shared"]) { count, _ in count / 2 },
    changes("begins again after three changes", ["random-calls", "random-calls-shared"]) { count, _ in
      count % 3
    },
    changes("can never tell the number of changes", ["random-calls", "random-calls-shared"]) { _, _ in nil },
    changes("counts the changes of its own handle alone", ["random-calls-shared"]) { _, calls in calls.batches },
    changes("counts reads as changes", ["random-calls"]) { count, calls in count + calls.reads },
    Defect(
      name: "counts a change before it can be read", caughtBy: ["change-count-late"],
      changeCount: { _, calls in calls.begun }, countsEarly: true),
    Defect(name: "counts changes when it is closed", caughtBy: ["closed-calls-fail"], countsWhenClosed: true),
    Defect(
      name: "misses the changes of others", caughtBy: ["shared-change-mark"],
      mark: { ChangeMark(number: 7, age: $0.age) }),
    Defect(
      name: "marks nothing twice alike", caughtBy: ["change-mark-stays"],
      mark: { ChangeMark(number: .random(in: 0 ... .max), age: $0.age) }),
  ]
}
