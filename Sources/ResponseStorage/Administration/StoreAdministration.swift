public import CacheDomain
public import StorageSPI

/// What somebody who runs a cache does with its store: look into it, remove from it, measure and verify it.
///
/// Memory stays bounded whatever the size of the store: entries are visited in pages.
public struct StoreAdministration: Sendable {
  /// How many entries are looked at one by one to tell their states.
  static let maximumCensus = 10_000

  let store: EntryStore
  let ledger: any UsageLedger

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

  /// Removes the selected entries (with `dryRun` only counts them), a page of them at a time. What is damaged and cannot
  /// be listed stays, and is named in the report.
  ///
  /// - Throws: `CacheError`: the engine failed, or others changed entries all the time (`conflict`); what was removed
  ///   before then stays removed.
  public func remove(_ selection: EntrySelection, dryRun: Bool) async throws(CacheError) -> RemovalReport {
    var report = RemovalReport()
    do throws(CacheError) {
      report.damage = try await visit(selection, after: nil) { page throws(CacheError) in
        report.add(dryRun ? page : try await remove(page, selectedBy: selection))
        return true
      }
    } catch {
      throw error.code == .cancelled ? report.interruption("removed", dryRun: dryRun) : error
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

  private func remove(_ keys: [CacheKey]) async throws(CacheError) {
    var batch = WriteBatch()
    for key in keys { batch.remove(key) }
    do throws(StorageError) { try await store.engine.apply(batch) } catch { throw CacheError(error) }
  }

  /// Gives the selected entries to `body`, a page at a time, for as long as it returns `true`.
  ///
  /// - Returns: what could not be listed.
  @discardableResult
  func visit(
    _ selection: EntrySelection, after cursor: CacheKey?,
    _ body: ([EntrySummary]) async throws(CacheError) -> Bool
  ) async throws(CacheError) -> StoreDamage {
    var walk = EntryWalk(store, selection, after: cursor, includesLeases: true)
    while let page = try await walk.next() {
      guard try await body(page) else { break }
    }
    return walk.damage
  }
}
