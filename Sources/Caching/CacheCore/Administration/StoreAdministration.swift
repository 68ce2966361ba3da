public import EngineAPI

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
  /// The key, the metadata before any transforms, and the size of the stored payload.
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
  /// An engine that is not `bounded` is not asked for its count: the walk that counts the states counts its entries too.
  ///
  /// - Parameters:
  ///   - countsStates: whether to count the fresh, stale and expired entries, by a walk through all entries; `nil` if only in
  ///     a store of at most `StoreReport.scannedEntries`.
  ///   - isOfAll: whether lookups and evictions are those of all processes, or of this one since it opened the store.
  /// - Throws: `CacheError`: the engine failed, or the file next to the store cannot be read.
  public func statistics(
    countingStates countsStates: Bool? = nil, ofAllProcesses isOfAll: Bool = true
  ) async throws(CacheError) -> StoreReport {
    let operations = isOfAll ? try store.uses.totals() : store.uses.counts
    var report = StoreReport(
      count: try await store.count(), operations: operations, tiers: await store.tiered?.tiers() ?? [],
      isBounded: store.isBounded)
    guard countsStates ?? ((report.entries ?? 0) <= StoreReport.scannedEntries) else { return report }
    var walked = StoreCount()
    var states: [EntryState: Int] = [:]
    var walk = StoreWalk(store)
    while let page = try await walk.next() {
      let now = store.clock.now
      for entry in selected(of: page, by: EntrySelection()) {
        states[entry.metadata.state(at: now), default: 0] += 1
        walked[entry.key.namespace].add(payloadBytes: entry.payloadBytes, retainUntil: entry.metadata.retainUntil)
      }
      if countsStates == nil, walked.entries > StoreReport.scannedEntries { return report }
    }
    report.states = states
    report.count = report.count ?? walked
    return report
  }

  /// Removes expired entries, and returns unused space to the file system.
  ///
  /// A cancelled task stops between two batches, and before the space is returned, which is one step.
  ///
  /// - Throws: `CacheError`: the engine failed, or `cancelled`; all unexpired entries are still there.
  public func compact() async throws(CacheError) -> CompactionReport {
    let before = try await store.count()
    // Most engines would remove them too, but could not tell them from those that others remove meanwhile.
    let expired =
      store.isExpiring ? RemovalReport() : try await change(.remove, EntrySelection(state: .expired), dryRun: false)
    if Task.isCancelled { throw expired.interruption(.remove, dryRun: false) }
    try await store.engine.compact()
    return CompactionReport(before: before, after: try await store.count(), removed: expired.entries)
  }
}

/// How much a store holds, and how it was used.
public struct StoreReport: Sendable {
  /// In a store of at most this many entries states are counted without being asked for: it takes no noticeable time.
  public static let scannedEntries = 100_000

  /// The entries, without the leases of requests; `nil` if the engine is not `bounded`, and has more than `scannedEntries`
  /// that were not to be counted.
  public internal(set) var count: StoreCount?
  /// How many entries are in each state, without states that have none; `nil` if they were not counted.
  public internal(set) var states: [EntryState: Int]?
  /// The numbers of lookups and evictions.
  public let operations: OperationCounts
  /// The content of each tier, the nearest first; empty for an engine without tiers. The rest of the report is about the last
  /// one.
  public let tiers: [TierReport]
  let isBounded: Bool

  /// The number of entries, including expired ones that are still there.
  public var entries: Int? { count?.entries }

  /// The size of their payloads, in bytes.
  public var payloadBytes: Int? { count?.payloadBytes }

  /// The space that the store takes up on its medium, in bytes; `nil` if the engine is not `bounded`.
  public var storageBytes: Int? { isBounded ? count?.storageBytes : nil }

  /// The number of unexpired entries that were evicted; `nil` if the engine is not `bounded`, and evicts by itself.
  public var evictions: Int? { isBounded ? operations.evictions : nil }

  /// The number of entries in `state`; `nil` if they were not counted.
  public func count(_ state: EntryState) -> Int? { states.map { $0[state] ?? 0 } }
}

/// The result of compacting a store.
public struct CompactionReport: Sendable, Hashable {
  /// The content of the store before compaction; `nil` if its engine is not `bounded`, and only a walk would tell.
  public let before: StoreCount?
  /// The content of the store now, including entries that other processes have written meanwhile; `nil` in the same case.
  public let after: StoreCount?
  /// How many expired entries the compaction removed itself.
  public let removed: Int
}

extension StoreAdministration {
  /// Passes the first `limit` (1 or more) selected entries after `cursor` to `body`, in the order of the engine, which is
  /// that of their keys if it is `ordered`. It works in pages, so memory stays bounded for any limit. `body` also gets the
  /// time at which the page was read, which determines the states.
  ///
  /// - Returns: the position after which the listing continues; `nil` if it is complete.
  /// - Throws: `CacheError`: what `body` throws, or the engine failed.
  public func list(
    _ selection: EntrySelection, after cursor: String?, limit: Int,
    _ body: (_ page: [ScannedEntry], _ readAt: Timestamp) async throws(CacheError) -> Void
  ) async throws(CacheError) -> String? {
    var walk = StoreWalk(store, selection.request(after: cursor))
    var left = limit
    var end: String?
    while let page = try await walk.next() {
      var entries = selected(of: page, by: selection)
      if entries.isEmpty { continue }
      if left == 0 { return end }
      let hasMore = entries.count > left
      if hasMore {
        // The page again, but only to the last entry that is wanted: only the engine knows the position after it.
        let last = entries[left - 1].key
        var request = selection.request(after: walk.start)
        request?.limit = (page.firstIndex { $0.key == last } ?? 0) + 1
        var part = StoreWalk(store, request)
        entries = selected(of: try await part.next() ?? [], by: selection)
        end = part.position
      }
      if !entries.isEmpty { try await body(entries, store.clock.now) }
      if hasMore { return end }
      left -= entries.count
      end = walk.position
    }
    return nil
  }

  /// Lists the entries in one piece.
  ///
  /// - Throws: `CacheError`: the engine failed.
  public func list(
    _ selection: EntrySelection, after cursor: String?, limit: Int
  ) async throws(CacheError) -> EntryListing {
    var entries: [ScannedEntry] = []
    var readAt = store.clock.now
    let cursor = try await list(selection, after: cursor, limit: limit) { page, time in
      entries += page
      readAt = time
    }
    return EntryListing(entries: entries, cursor: cursor, readAt: readAt)
  }

  /// Lists the first `limit` (1 or more) selected entries in `order`. Of their attributes they have those that tell the
  /// responses for a URL apart.
  ///
  /// Cost: a pass over all selected entries. Memory grows with the number of entries listed, by about a hundred bytes
  /// each, but not with the others.
  ///
  /// - Throws: `CacheError`: the engine failed, or the use of entries cannot be read; `invalidRequest` if it is not recorded,
  ///   because the engine is not `bounded`.
  public func list(
    _ selection: EntrySelection, by order: EntryOrder, limit: Int
  ) async throws(CacheError) -> EntryListing {
    if order == .used, !store.isBounded {
      throw CacheError(
        .invalidRequest, "the uses of entries are not recorded: the store evicts by itself",
        hint: "sort by key, size or stored")
    }
    var first: [(rank: Int64, entry: ScannedEntry)] = []
    func keepFirst() {
      first.sort { $0.rank == $1.rank ? $0.entry.key < $1.entry.key : $0.rank > $1.rank }
      // An engine that is not `ordered` can list an entry twice.
      var last: CacheKey?
      first.removeAll { ranked in
        defer { last = ranked.entry.key }
        return ranked.entry.key == last
      }
      first.removeLast(max(0, first.count - limit))
    }
    try await visit(selection) { page throws(CacheError) in
      let uses = order == .used ? try store.uses.histories(of: page.map(\.key)) : []
      for (index, entry) in page.enumerated() {
        let rank = order.rank(of: entry, uses.isEmpty ? AccessHistory() : uses[index])
        var metadata = entry.metadata
        metadata.attributes = entry.metadata.namingAttributes
        first.append((rank, ScannedEntry(key: entry.key, metadata: metadata, payloadBytes: entry.payloadBytes)))
      }
      if first.count / 2 >= limit { keepFirst() }
    }
    keepFirst()
    return EntryListing(entries: first.map(\.entry), cursor: nil, readAt: store.clock.now)
  }
}

/// A page of a store's entries, and where to continue.
public struct EntryListing: Sendable {
  /// The entries.
  public let entries: [ScannedEntry]
  /// The position after which the listing continues; `nil` if it is complete.
  public let cursor: String?
  /// When the entries were read. Their states are those at this time.
  public let readAt: Timestamp
}

/// An order in which entries are listed; ties are broken by key.
public enum EntryOrder: String, Sendable, CaseIterable {
  /// By key.
  case key
  /// The largest payload first.
  case size
  /// Stored or confirmed most recently first.
  case stored
  /// Used most recently first; unused entries come last.
  case used

  /// Entries with higher ranks come first.
  fileprivate func rank(of entry: ScannedEntry, _ use: AccessHistory) -> Int64 {
    switch self {
    case .key: 0
    case .size: Int64(entry.payloadBytes)
    case .stored: entry.metadata.storedAt.milliseconds
    case .used: use.lastUsedAt.milliseconds
    }
  }
}
