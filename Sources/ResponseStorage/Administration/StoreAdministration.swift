public import CacheDomain
public import StorageSPI

/// What somebody who runs a cache does with its store: look into it, remove from it, measure and verify it.
///
/// Memory stays bounded whatever the size of the store: entries are visited in pages.
public struct StoreAdministration: Sendable {
  /// How many entries are visited, and removed, at once.
  static let pageSize = 1_000

  /// How many entries are looked at one by one to tell their states.
  static let maximumCensus = 10_000

  let store: EntryStore
  private let ledger: any UsageLedger

  /// The administration of `store`, whose use is counted in `ledger`.
  public init(store: EntryStore, ledger: any UsageLedger) {
    self.store = store
    self.ledger = ledger
  }

  /// The entry under `key`, its payload copied, also an expired one; `nil` where there is none.
  ///
  /// - Throws: `CacheError`: the engine failed, or the entry is `damaged`.
  public func entry(_ key: CacheKey) async throws(CacheError) -> StoredEntry? {
    do throws(StorageError) {
      return try await store.engine.read(key) { [clock = store.clock] bytes, metadata throws(StorageError) in
        try metadata.verify(key: key, payload: bytes)
        return StoredEntry(
          summary: EntrySummary(key: key, metadata: metadata, payloadBytes: bytes.count),
          payload: bytes.withUnsafeBufferPointer { Array($0) }, readAt: clock.now)
      }
    } catch {
      throw CacheError(error)
    }
  }

  /// Removes the selected entries (with `dryRun` only counts them), a page of them at a time.
  ///
  /// - Throws: `CacheError`: the engine failed, or others changed entries all the time (`conflict`); what was removed
  ///   before then stays removed.
  public func remove(_ selection: EntrySelection, dryRun: Bool) async throws(CacheError) -> RemovalReport {
    var report = RemovalReport()
    try await visit(selection, after: nil) { page throws(CacheError) in
      report.add(dryRun ? page : try await remove(page, selectedBy: selection))
      return true
    }
    return report
  }

  /// Removes the entries under `keys` (with `dryRun` only looks for them), all at once.
  ///
  /// - Throws: `CacheError`: the engine failed; then none was removed.
  public func remove(keys: [CacheKey], dryRun: Bool) async throws(CacheError) -> RemovalReport {
    var report = RemovalReport()
    for key in Set(keys).sorted() {
      do throws(StorageError) {
        let found = try await store.engine.read(key) { bytes, metadata throws(StorageError) in
          EntrySummary(key: key, metadata: metadata, payloadBytes: bytes.count)
        }
        if let found { report.add([found]) } else { report.missing.append(key) }
      } catch {
        guard error.code == .damaged else { throw CacheError(error) }
        report.addDamaged()
      }
    }
    if !dryRun { try await remove(keys) }
    return report
  }

  /// How much the store holds, in what state, and how it was used.
  ///
  /// In a store of up to 10,000 entries those that may be fresh are looked at one by one. In a larger one the cost does not
  /// grow with the number of entries: where entries change their state in the very slot of the present, up to 10,000 of
  /// them are looked at; of more the states are estimated, and the report says so. An entry that was stored ahead of the
  /// clock then counts as fresh until its time comes.
  ///
  /// - Throws: `CacheError`: the engine or the ledger failed.
  public func statistics() async throws(CacheError) -> StoreReport {
    let usage = try ledger.totals()
    let statistics: StorageStatistics
    do throws(StorageError) { statistics = try await store.engine.statistics() } catch { throw CacheError(error) }
    let tally = statistics.tally.without(Lease.namespace)
    let isSmall = tally.total().entries <= Self.maximumCensus
    var census = StateCensus(tally, at: store.clock.now, trustsTimes: !isSmall)
    let namespaces = census.undecidedNamespaces
    let isEstimated = namespaces.reduce(0) { $0 + (tally.namespaces[$1]?.entries ?? 0) } > Self.maximumCensus
    if isEstimated {
      census.estimate()
    } else {
      for namespace in namespaces {
        try await visit(EntrySelection(namespace: namespace), after: nil) { page throws(CacheError) in
          for entry in page { census.count(entry) }
          return true
        }
      }
    }
    return StoreReport(
      statistics: StorageStatistics(tally: tally, storageBytes: statistics.storageBytes), states: census.states,
      isEstimated: isEstimated, usage: usage)
  }

  private func remove(_ keys: [CacheKey]) async throws(CacheError) {
    var batch = WriteBatch()
    for key in keys { batch.remove(key) }
    do throws(StorageError) { try await store.engine.apply(batch) } catch { throw CacheError(error) }
  }

  /// Gives the selected entries to `body`, a page at a time, for as long as it returns `true`.
  func visit(
    _ selection: EntrySelection, after cursor: CacheKey?,
    _ body: ([EntrySummary]) async throws(CacheError) -> Bool
  ) async throws(CacheError) {
    guard let prefix = selection.keyPrefix else { return }
    var range = KeyRange(prefix: prefix, after: cursor)
    while true {
      if Task.isCancelled { throw .cancelled }
      let page = try await scan(range)
      let now = store.clock.now
      let selected = page.filter { selection.contains($0, at: now) }
      guard selected.isEmpty ? true : try await body(selected), page.count == Self.pageSize else { return }
      range.after = page.last?.key
      await store.engine.releaseMemory()
    }
  }

  private func scan(_ range: KeyRange) async throws(CacheError) -> [EntrySummary] {
    do throws(StorageError) {
      return try await store.engine.scan(range, limit: Self.pageSize)
    } catch {
      throw CacheError(error)
    }
  }
}
