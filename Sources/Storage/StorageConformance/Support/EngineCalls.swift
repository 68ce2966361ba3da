internal import StorageSPI

extension StorageEngine {
  /// A copy of the entry under `key`; `nil` if there is none.
  func entry(_ key: CacheKey) async throws(CacheError) -> Entry? {
    try await read(key) { bytes, metadata throws(CacheError) in
      Entry(payload: bytes.withUnsafeBufferPointer { Array($0) }, metadata: metadata)
    }
  }

  /// Stores `entry` under `key`, in a batch of its own.
  func put(_ key: CacheKey, _ entry: Entry) async throws(CacheError) {
    try await put([(key, entry)])
  }

  /// Stores all `entries` in one batch.
  func put(_ entries: [(key: CacheKey, entry: Entry)]) async throws(CacheError) {
    var batch = WriteBatch()
    for (key, entry) in entries { batch.put(key, entry) }
    try await apply(batch)
  }

  /// Removes the entry under `key`, in a batch of its own.
  func remove(_ key: CacheKey) async throws(CacheError) {
    var batch = WriteBatch()
    batch.remove(key)
    try await apply(batch)
  }

  /// All entries of the store, fewer than ten thousand.
  func scanAll(prefix: String = "", after: CacheKey? = nil) async throws(CacheError) -> [EntrySummary] {
    try await scan(KeyRange(prefix: prefix, after: after), limit: 10_000)
  }

  /// Throws a failure unless the store contains exactly `entries`, by scan, by read and by statistics.
  func expectHolds(_ entries: [CacheKey: Entry]) async throws {
    let keys = entries.keys.sorted()
    try expectKeys(try await scanAll(), keys, "a scan of everything")
    for summary in try await scanAll() {
      guard let expected = entries[summary.key] else { continue }
      try expectEqual(summary.metadata, expected.metadata, at: summary.key)
      try expectEqual(summary.payloadBytes, expected.payload.count, "\(summary.key.abbreviated): payloadBytes")
    }
    for key in keys { try expectEqual(try await entry(key), entries[key], at: key) }
    try await expectStatistics(entries)
  }

  /// Throws a failure unless the statistics count exactly `entries`.
  func expectStatistics(_ entries: [CacheKey: Entry]) async throws {
    var expected = EntryTally()
    for (key, entry) in entries {
      expected.add(EntryTally.Slot(namespace: key.namespace, entry.metadata), payloadBytes: entry.payload.count)
    }
    let got = try await statistics()
    let summaries = StorageStatistics(tally: expected, storageBytes: 0).namespaces.map(\.summary)
    try expectEqual(got.namespaces.map(\.summary), summaries, "statistics")
    try expect(got.tally == expected, "the tally counts entries in slots in which they are not")
  }
}

extension WriteBatch {
  /// Adds an operation that stores `entry` under `key`.
  mutating func put(_ key: CacheKey, _ entry: Entry) {
    put(key, payload: entry.payload, metadata: entry.metadata)
  }
}

/// Throws a failure with the first difference unless `summaries` have exactly `keys`, in order.
func expectKeys(_ summaries: [EntrySummary], _ keys: [CacheKey], _ what: @autoclosure () -> String) throws {
  let got = summaries.map(\.key)
  guard got != keys else { return }
  let position =
    zip(got, keys).enumerated().first { $0.element.0 != $0.element.1 }?.offset ?? min(got.count, keys.count)
  let (expectedKey, gotKey) = (keys.dropFirst(position).first, got.dropFirst(position).first)
  throw ConformanceFailure(
    "\(what()): expected \(keys.count) keys, got \(got.count); at position \(position) expected "
      + "\(expectedKey?.abbreviated ?? "the end"), got \(gotKey?.abbreviated ?? "the end")")
}

extension StorageStatistics.Namespace {
  fileprivate var summary: String { "\(name): \(entries) entries, \(payloadBytes) bytes" }
}
