internal import StorageSPI

/// What a store must contain, as a plain dictionary. An expired entry may or may not exist until the store is
/// compacted; once it was seen to be gone, it must stay away.
struct ModelStore: Sendable {
  /// The entries.
  private(set) var entries: [CacheKey: Entry] = [:]

  /// A batch, and the error with which it must fail; `nil` if it must succeed.
  typealias Prediction = (batch: WriteBatch, error: CacheError.Code?)

  /// Makes a batch of `changes`, predicts its result, and changes the model as the batch changes the store.
  ///
  /// Leaves out requirements on expired entries, and bounds while there are such entries: whether they hold is the
  /// engine's choice.
  mutating func apply(
    _ changes: [ModelCommand.Change], within bounds: ModelCommand.Bounds?, at now: Timestamp
  ) -> Prediction {
    var batch = WriteBatch()
    var (after, fails) = (entries, false)
    for change in changes {
      switch change {
      case .put(let key, let payload, let checksum, let lifetime):
        let entry = Self.entry(payload, checksum, retainUntil: now.advanced(by: .milliseconds(lifetime)), at: now)
        batch.put(key, entry)
        after[key] = entry
      case .remove(let key):
        batch.remove(key)
        after[key] = nil
      case .requireTrue(let key) where !isExpired(after[key], at: now):
        batch.require(key, after[key].map { .checksum($0.metadata.checksum) } ?? .absent)
      case .requireFalse(let key) where !isExpired(after[key], at: now):
        batch.require(key, after[key].map { .checksum($0.metadata.checksum ^ 1) } ?? .checksum(0))
        fails = true
      case .requireTrue, .requireFalse: continue
      }
    }
    if let bounds, !after.values.contains(where: { isExpired($0, at: now) }) {
      batch.bounds = bounds.bounds(for: Self.tally(after))
    }
    if fails { return (batch, .conflict) }
    if let bounds = batch.bounds, !bounds.contain(Self.tally(after)) { return (batch, .overBounds) }
    entries = after
    return (batch, nil)
  }

  private static func tally(_ entries: [CacheKey: Entry]) -> EntryTally {
    entries.reduce(into: EntryTally()) { tally, entry in
      let slot = EntryTally.Slot(namespace: entry.key.namespace, entry.value.metadata)
      tally.add(slot, payloadBytes: entry.value.payload.count)
    }
  }

  private static func entry(_ payload: [UInt8], _ checksum: UInt64, retainUntil: Timestamp, at now: Timestamp) -> Entry
  {
    Entry(
      payload: payload,
      metadata: EntryMetadata(
        storedAt: now, freshUntil: now, retainUntil: retainUntil, contentType: "type/\(checksum % 7)",
        attributes: ["etag": "\(checksum)"], checksum: checksum))
  }

  private func isExpired(_ entry: Entry?, at now: Timestamp) -> Bool { entry?.metadata.state(at: now) == .expired }

  /// Removes the entries that have expired at `now`.
  mutating func compact(at now: Timestamp) { entries = entries.filter { !isExpired($0.value, at: now) } }

  /// Throws a failure unless a read of `key` may return `got`.
  mutating func check(read got: Entry?, of key: CacheKey, at now: Timestamp) throws {
    if got == nil, isExpired(entries[key], at: now) { entries[key] = nil }
    try expectEqual(got, entries[key], at: key)
  }

  /// Throws a failure unless a scan of `range` may return `got`.
  mutating func check(scan got: [EntrySummary], of range: KeyRange, limit: Int, at now: Timestamp) throws {
    var rest = got[...]
    for key in entries.keys.filter(range.contains).sorted() {
      guard let entry = entries[key], got.count < limit || !rest.isEmpty else { break }
      if let summary = rest.first, summary.key == key {
        try expectEqual(summary.metadata, entry.metadata, at: key)
        try expectEqual(summary.payloadBytes, entry.payload.count, "\(key.abbreviated): payloadBytes")
        rest.removeFirst()
      } else {
        try expect(isExpired(entry, at: now), "a scan leaves out \(key.abbreviated)")
        entries[key] = nil
      }
    }
    try expect(rest.isEmpty, "a scan gives \(rest.first?.key.abbreviated ?? ""), which must not be there")
    try expect(got.count <= limit, "a scan with the limit \(limit) gives \(got.count) entries")
  }

  /// Throws a failure unless the statistics are between those without and those with the expired entries.
  func check(statistics: StorageStatistics, at now: Timestamp) throws {
    var counted: [String: StorageStatistics.Namespace] = [:]
    for namespace in statistics.namespaces { counted[namespace.name] = namespace }
    try expectEqual(statistics.namespaces.map(\.name), counted.keys.sorted(), "the namespaces in the statistics")
    for name in Set(entries.keys.map(\.namespace)).union(counted.keys) {
      let all = entries.filter { $0.key.namespace == name }.values
      let least = all.filter { !isExpired($0, at: now) }
      let got = counted[name] ?? .init(name: name, entries: 0, payloadBytes: 0)
      let bytes = (least.reduce(0) { $0 + $1.payload.count }, all.reduce(0) { $0 + $1.payload.count })
      let fits = (least.count...all.count).contains(got.entries) && (bytes.0...bytes.1).contains(got.payloadBytes)
      try expect(
        fits && (counted[name] == nil || got.entries > 0),
        "statistics of \(name): expected \(least.count) to \(all.count) entries of \(bytes.0) to \(bytes.1) bytes, got "
          + "\(got.entries) of \(got.payloadBytes)")
    }
  }
}

extension ModelCommand.Bounds {
  /// The bounds for a store that would have `tally` after the batch; `nil` if no bounds can express that.
  fileprivate func bounds(for tally: EntryTally) -> StoreBounds? {
    let exempt = self == .exactWithoutMovies ? "movies" : nil
    let total = tally.total(except: exempt)
    let entries = total.entries - (self == .oneEntryLess ? 1 : 0)
    let payloadBytes = total.payloadBytes - (self == .oneByteLess ? 1 : 0)
    guard entries >= 0, payloadBytes >= 0 else { return nil }
    return StoreBounds(maxEntries: entries, maxPayloadBytes: payloadBytes, exemptNamespace: exempt)
  }
}
