import StorageSPI

/// A clock that is wrong by `offset`.
private struct WrongClock: WallClock {
  let base: any WallClock
  let offset: Duration
  var now: Timestamp { base.now.advanced(by: offset) }
}

/// Bugs in how an engine scans, expires and counts.
enum ScanDefects {
  static let scans = [
    Defect(
      name: "scans backwards", caughtBy: ["scan-order", "random-calls"], summaries: { found, _ in found.reversed() }),
    Defect(
      name: "wrong sizes", caughtBy: ["scan-summaries", "random-calls"],
      summaries: { found, _ in
        found.map { EntrySummary(key: $0.key, metadata: $0.metadata, payloadBytes: $0.payloadBytes + 1) }
      }),
    Defect(
      name: "prefixes of 511 bytes", caughtBy: ["scan-prefix", "scan-prefix-and-after"],
      range: { KeyRange(prefix: String($0.prefix.prefix(511)), after: $0.after) }),
    Defect(
      name: "visits the key after which to begin", caughtBy: ["scan-after", "scan-prefix-and-after"],
      range: { KeyRange(prefix: $0.prefix) },
      summaries: { found, range in found.filter { $0.key >= range.after ?? $0.key } }),
    Defect(
      name: "skips the first after a key",
      caughtBy: ["scan-after", "paging-visits-all-once", "paging-long-keys", "paging-while-removing", "random-calls"],
      summaries: { found, range in Array(found.dropFirst(range.after == nil ? 0 : 1)) }),
    Defect(
      name: "begins again for ever", caughtBy: ["paging-visits-all-once", "paging-while-adding"],
      range: { KeyRange(prefix: $0.prefix) }),
    Defect(
      name: "always scans forwards", caughtBy: ["scan-prefix-and-after", "scan-limit"],
      range: { KeyRange(prefix: $0.prefix, after: $0.after) }),
    Defect(
      name: "descends from the key after which to begin",
      caughtBy: ["scan-prefix-and-after", "paging-long-keys"],
      range: { KeyRange(prefix: $0.prefix, after: $0.isDescending ? nil : $0.after, isDescending: $0.isDescending) },
      summaries: { found, range in range.isDescending ? found.filter { $0.key <= range.after ?? $0.key } : found }),
    Defect(name: "one too many", caughtBy: ["scan-limit", "random-calls"], limit: { $0 == .max ? $0 : $0 + 1 }),
  ]

  private static func clock(_ name: String, _ caughtBy: [String], _ offset: Duration) -> Defect {
    Defect(name: name, caughtBy: caughtBy, clock: { WrongClock(base: $0, offset: offset) })
  }

  static let expiry = [
    clock("a millisecond early", ["expiry-kept-to-the-last", "expiry-never"], .milliseconds(1)),
    clock("a millisecond late", ["expiry-at-the-end", "expiry-only-expired"], .milliseconds(-1)),
    clock("an hour early", ["expiry-stale-is-kept", "expiry-stored-in-future", "compact-empty"], .seconds(3_600)),
    clock("two hours early", ["expiry-extended"], .seconds(7_190)),
    Defect(
      name: "never compacts",
      caughtBy: [
        "expiry-at-the-end", "expiry-only-expired", "shared-compacting", "reopen-keeps-removals", "random-calls",
      ],
      compacts: false),
  ]

  private static func counting(
    _ name: String, _ caughtBy: [String], _ storageBytes: Int? = nil,
    _ change: @escaping @Sendable (inout EntryTally, EntryTally.Slot) -> Void = { _, _ in }
  ) -> Defect {
    Defect(
      name: name, caughtBy: caughtBy,
      statistics: { statistics in
        var tally = statistics.tally
        for slot in statistics.tally.slots.keys { change(&tally, slot) }
        return StorageStatistics(tally: tally, storageBytes: storageBytes ?? statistics.storageBytes)
      })
  }

  static let counted = [
    counting("one entry too many", ["statistics-follow-changes", "put-then-read", "random-calls"]) { tally, slot in
      tally.add(slot, payloadBytes: 0)
    },
    counting("wrong sums", ["statistics-follow-changes", "payload-tiny", "random-calls"]) { tally, slot in
      tally.add(EntryTally.Count(payloadBytes: 1), to: slot)
    },
    counting("no movies", ["statistics-follow-changes"]) { tally, slot in
      if slot.namespace == "movies", let count = tally.slots[slot] {
        tally.add(EntryTally.Count(entries: -count.entries, payloadBytes: -count.payloadBytes), to: slot)
      }
    },
    counting("expires later", ["statistics-follow-changes", "put-then-read"]) { tally, slot in
      guard let count = tally.slots[slot] else { return }
      tally.add(EntryTally.Count(entries: -count.entries, payloadBytes: -count.payloadBytes), to: slot)
      tally.add(
        count,
        to: EntryTally.Slot(
          namespace: slot.namespace, freshSlot: slot.freshSlot, retainSlot: slot.retainSlot + 1))
    },
    counting("takes up nothing", ["statistics-storage-bytes"], 0),
    counting("never gets smaller", ["compact-gives-space-back"], 10_000_000),
    Defect(
      name: "finds damage", caughtBy: ["integrity-of-sound-store", "concurrent-everything", "random-calls"],
      issues: { $0 + [IntegrityIssue(kind: .structure, message: "a page is never used")] }),
  ]
}
