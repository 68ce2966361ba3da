public import FetchVocabulary
public import StorageSPI

/// Administers a store: lists, removes, counts and verifies its entries.
///
/// It visits entries in pages, so memory stays bounded for stores of any size.
public struct StoreAdministration: Sendable {
  let store: EntryStore

  /// Creates the administration of `store`.
  public init(_ store: EntryStore) { self.store = store }

  /// The entry under `key` with a copy of its payload as it was before its transforms, even if it is expired; `nil` if
  /// there is none.
  ///
  /// - Throws: `CacheError`: the engine failed; the entry is `damaged`, or sealed with another key (`wrongKey`).
  public func entry(_ key: CacheKey) async throws(CacheError) -> StoredEntry? {
    try await store.engine.read(key) {
      [clock = store.clock, transforms = store.transforms] stored, found throws(CacheError) in
      try found.verify(key: key, payload: stored)
      let (payload, metadata) = try transforms.opened(stored, found, key: key)
      return StoredEntry(
        summary: ScannedEntry(key: key, metadata: metadata, payloadBytes: stored.count), payload: payload,
        transforms: found.transforms, readAt: clock.now)
    }
  }

  /// Passes the selected entries to `body`, in pages.
  func visit(
    _ selection: EntrySelection, _ body: ([ScannedEntry]) async throws(CacheError) -> Void
  ) async throws(CacheError) {
    var walk = StoreWalk(store, selection.request())
    while let page = try await walk.next() {
      let selected = selected(of: page, by: selection)
      if !selected.isEmpty { try await body(selected) }
    }
  }

  /// The entries of `page` that `selection` selects now.
  func selected(of page: [ScannedEntry], by selection: EntrySelection) -> [ScannedEntry] {
    let now = store.clock.now
    return page.filter { selection.contains($0, at: now) }
  }
}

/// An entry with its payload.
public struct StoredEntry: Sendable {
  /// The key, the metadata before any transforms, and the size of what is stored.
  public let summary: ScannedEntry
  /// The payload's bytes, before any transforms.
  public let payload: [UInt8]
  /// The transforms that it is stored with, in order, with spaces between them; `nil` if it is stored unchanged.
  public let transforms: String?
  /// When the entry was read. Its state is that at this time.
  public let readAt: Timestamp
}

/// How much the store holds.
extension StoreAdministration {
  /// Reports how much the store holds, and how it was used.
  ///
  /// - Parameters:
  ///   - countsStates: whether to count the fresh, stale and expired entries, by a scan of all entries; `nil` if only in a
  ///     store of at most `StoreReport.scannedEntries`.
  ///   - isOfAll: whether look-ups and evictions are those of all processes, or of this one since it opened the store.
  /// - Throws: `CacheError`: the engine failed, or the file next to the store cannot be read.
  public func statistics(
    countingStates countsStates: Bool? = nil, ofAllProcesses isOfAll: Bool = true
  ) async throws(CacheError) -> StoreReport {
    let operations = isOfAll ? try store.uses.totals() : store.uses.counts
    var report = StoreReport(
      count: try await store.count(), operations: operations, tiers: await store.tiered?.tiers() ?? [])
    guard countsStates ?? (report.entries <= StoreReport.scannedEntries) else { return report }
    var states: [EntryState: Int] = [:]
    try await visit(EntrySelection()) { page throws(CacheError) in
      let now = store.clock.now
      for entry in page { states[entry.metadata.state(at: now), default: 0] += 1 }
    }
    report.states = states
    return report
  }

  /// How much the store holds, without leases.
  ///
  /// - Throws: `CacheError`: the engine failed.
  public func count() async throws(CacheError) -> StoreCount { try await store.count() }

  /// Removes expired entries, and returns unused space to the file system.
  ///
  /// A cancelled task stops between two batches, and before the space is returned, which is one step.
  ///
  /// - Parameter before: what the store held before; `nil` for what it holds now.
  /// - Throws: `CacheError`: the engine failed, or `cancelled`; all unexpired entries are still there.
  public func compact(from before: StoreCount? = nil) async throws(CacheError) -> CompactionReport {
    let before = if let before { before } else { try await count() }
    // The engine would remove them too, but could not tell them from those that others remove meanwhile.
    let expired = try await change(.remove, EntrySelection(state: .expired), dryRun: false)
    if Task.isCancelled { throw expired.interruption(.remove, dryRun: false) }
    try await store.engine.compact()
    return CompactionReport(before: before, after: try await count(), removed: expired.entries)
  }
}

/// How much a store holds, and how it was used.
public struct StoreReport: Sendable {
  /// In a store of at most this many entries states are counted without being asked for: it takes no noticeable time.
  public static let scannedEntries = 100_000

  /// The entries, without the leases of requests, and the space that the store takes up on its medium.
  public let count: StoreCount
  /// How many entries are in each state, without states that have none; `nil` if they were not counted.
  public internal(set) var states: [EntryState: Int]?
  /// The numbers of look-ups and evictions.
  public let operations: OperationCounts
  /// The content of each tier, the nearest first; empty for an engine without tiers. The rest of the report is about the last
  /// one.
  public let tiers: [TierReport]

  /// The number of entries, including expired ones that are still there.
  public var entries: Int { count.entries }

  /// The size of their payloads, in bytes.
  public var payloadBytes: Int { count.payloadBytes }

  /// The space that the store takes up on its medium, in bytes.
  public var storageBytes: Int { count.storageBytes }

  /// The number of entries in `state`; `nil` if they were not counted.
  public func count(_ state: EntryState) -> Int? { states.map { $0[state] ?? 0 } }
}

/// The result of compacting a store.
public struct CompactionReport: Sendable, Hashable {
  /// The content of the store before compaction.
  public let before: StoreCount
  /// The content of the store now, including entries that other processes have written meanwhile.
  public let after: StoreCount
  /// How many expired entries the compaction removed itself.
  public let removed: Int
}
