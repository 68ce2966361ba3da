public import FetchVocabulary
public import StorageSPI

/// Administers a store: lists, removes, measures and verifies its entries.
///
/// It visits entries in pages, so memory stays bounded for stores of any size.
public struct StoreAdministration: Sendable {
  /// The largest number of entries to examine one by one to find their states.
  static let maximumCensus = 10_000

  let store: EntryStore
  let ledger: any OperationLedger

  /// Creates the administration of `store`, whose use `ledger` counts.
  public init(store: EntryStore, ledger: any OperationLedger) {
    self.store = store
    self.ledger = ledger
  }

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
        summary: EntrySummary(key: key, metadata: metadata, payloadBytes: stored.count), payload: payload,
        transforms: found.transforms, readAt: clock.now)
    }
  }

  /// Removes the selected entries, in pages; with `dryRun` it only counts them. What is being fetched of the selected
  /// entries now is not stored.
  ///
  /// - Throws: `CacheError`: the engine failed, or other writers kept changing entries (`conflict`). Entries removed
  ///   before that stay removed.
  public func remove(_ selection: EntrySelection, dryRun: Bool) async throws(CacheError) -> RemovalReport {
    var report = RemovalReport()
    do throws(CacheError) {
      if !dryRun { try await endFlights(selection) }
      try await visit(selection, after: nil) { page throws(CacheError) in
        report.add(dryRun ? page : try await remove(page, selectedBy: selection))
        return true
      }
    } catch {
      throw error.code == .cancelled ? report.interruption("removed", dryRun: dryRun) : error
    }
    return report
  }

  /// Removes the entries under `keys`; with `dryRun` it only looks for them. Counts only what this call removes, and not
  /// what another writer has removed meanwhile. What is being fetched of them now is not stored.
  ///
  /// - Throws: `CacheError`: the engine failed. No entry was removed, unless there was no room to remove all at once.
  public func remove(keys: [CacheKey], dryRun: Bool) async throws(CacheError) -> RemovalReport {
    let keys = Set(keys).sorted()
    if !dryRun { try await store.endFlights(of: keys) }
    var attempt = 0
    while true {
      attempt += 1
      var (report, found, damaged) = (RemovalReport(), [EntrySummary](), [CacheKey]())
      for key in keys {
        do throws(CacheError) {
          let entry = try await store.engine.read(key) { bytes, metadata throws(CacheError) in
            EntrySummary(key: key, metadata: metadata, payloadBytes: bytes.count)
          }
          if let entry { found.append(entry) } else { report.missing.append(key) }
        } catch {
          guard error.code == .damaged else { throw error }
          damaged.append(key)
          report.addDamaged()
        }
      }
      report.add(found)
      if dryRun { return report }
      do throws(CacheError) {
        try await remove(found, damaged, isConditional: attempt < Self.removalAttempts)
        return report
      } catch {
        if error.code == .noSpace, keys.count > 1 {
          var first = try await remove(keys: Array(keys.prefix(keys.count / 2)), dryRun: false)
          first.add(try await remove(keys: Array(keys.dropFirst(keys.count / 2)), dryRun: false))
          return first
        }
        guard error.code == .conflict else { throw error }
      }
    }
  }

  /// Ends the flights of entries that `selection` selects by their keys, also of those that are not in the store yet.
  func endFlights(_ selection: EntrySelection) async throws(CacheError) {
    guard selection.selectsNewEntries else { return }
    try await store.endFlights { $0.meets(selection) }
  }

  /// Ends the flights for `url`: what is being fetched of it now is not stored.
  ///
  /// - Throws: `CacheError`: the engine failed.
  public func endFlights(for url: String) async throws(CacheError) {
    let prefix = EngineHTTPResponseStorage.keyPrefix(of: url)
    try await store.endFlights { $0.meets(prefix: prefix) }
  }

  /// Passes the selected entries to `body`, in pages, as long as it returns `true`.
  func visit(
    _ selection: EntrySelection, after cursor: CacheKey?,
    _ body: ([EntrySummary]) async throws(CacheError) -> Bool
  ) async throws(CacheError) {
    var walk = EntryWalk(store, selection, after: cursor, includesLeases: true)
    while let page = try await walk.next() {
      guard try await body(page) else { break }
    }
  }
}

extension StoreAdministration {
  /// Removes expired entries, and returns unused space to the file system.
  ///
  /// A cancelled task stops between two batches, and before the space is returned, which is one step.
  ///
  /// - Parameter extent: what to report as the extent before; `nil` for the present one.
  /// - Throws: `CacheError`: the engine failed, or `cancelled`; all unexpired entries are still there.
  public func compact(from extent: CompactionReport.Extent? = nil) async throws(CacheError) -> CompactionReport {
    let before = if let extent { extent } else { try await self.extent() }
    // The engine would remove them too, but could not tell them from those that others remove meanwhile.
    let expired = try await remove(EntrySelection(state: .expired), dryRun: false)
    if Task.isCancelled { throw expired.interruption("removed", dryRun: false) }
    try await store.engine.compact()
    return CompactionReport(before: before, after: try await self.extent(), removed: expired.entries)
  }

  /// How much the store holds.
  ///
  /// - Throws: `CacheError`: the engine failed.
  public func extent() async throws(CacheError) -> CompactionReport.Extent {
    CompactionReport.Extent(try await store.engine.statistics())
  }
}

/// The result of compacting a store.
public struct CompactionReport: Sendable, Hashable {
  /// How much a store holds.
  public struct Extent: Sendable, Hashable {
    /// The number of entries, without the leases of flights.
    public let entries: Int
    /// The total size of their payloads, in bytes.
    public let payloadBytes: Int
    /// The space that the store takes up on its medium, in bytes.
    public let storageBytes: Int

    package init(entries: Int, payloadBytes: Int, storageBytes: Int) {
      (self.entries, self.payloadBytes, self.storageBytes) = (entries, payloadBytes, storageBytes)
    }

    init(_ held: StorageStatistics) {
      let total = held.tally.total(except: Lease.namespace)
      self.init(entries: total.entries, payloadBytes: total.payloadBytes, storageBytes: held.storageBytes)
    }
  }

  /// What the store held before compaction.
  public let before: Extent
  /// What the store holds now, including what other processes have written meanwhile.
  public let after: Extent
  /// How many expired entries the compaction removed itself.
  public let removed: Int

  package init(before: Extent, after: Extent, removed: Int) {
    (self.before, self.after, self.removed) = (before, after, removed)
  }
}
