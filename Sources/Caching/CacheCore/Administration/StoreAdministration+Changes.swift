public import FetchVocabulary
public import StorageSPI

/// Removing entries, and making them stale: then the next fetch requests them from the origin, and can still serve them if
/// that fails.
extension StoreAdministration {
  /// How often other writers may be faster before a change gives up, or a removal ignores what they have written.
  static let changeAttempts = 100

  /// Removes the selected entries, in pages; with `dryRun` it only counts them. What is being fetched of the selected
  /// entries now is not stored.
  ///
  /// - Throws: `CacheError`: the engine failed, or other writers kept changing entries (`conflict`). Entries removed
  ///   before that stay removed.
  public func remove(_ selection: EntrySelection, dryRun: Bool) async throws(CacheError) -> RemovalReport {
    try await make(.removed, selection, dryRun: dryRun)
  }

  /// Makes the selected fresh entries stale in the same way. Entries whose metadata is damaged are left alone and reported.
  /// Cost: payloads are neither read nor written, unless the engine keeps them together with the metadata.
  ///
  /// - Throws: `CacheError`: as `remove(_:dryRun:)`.
  public func makeStale(_ selection: EntrySelection, dryRun: Bool) async throws(CacheError) -> RemovalReport {
    var fresh = selection
    guard fresh.state ?? .fresh == .fresh else { return RemovalReport() }
    fresh.state = .fresh
    return try await make(.stale, fresh, dryRun: dryRun)
  }

  /// Removes the entries under `keys`; with `dryRun` it only looks for them. Counts only what this call removes, and not
  /// what another writer has removed meanwhile. What is being fetched of them now is not stored.
  ///
  /// - Throws: `CacheError`: the engine failed. No entry was removed, unless there was no room to remove all at once.
  public func remove(keys: [CacheKey], dryRun: Bool) async throws(CacheError) -> RemovalReport {
    if !dryRun { try await store.coalescer.endRequests(of: keys) }
    var (report, found, damaged) = try await find(keys)
    if !dryRun {
      let removed = try await make(.removed, found, damaged) { _ in true }
      let gone = Set(removed.map(\.key))
      report.missing += found.map(\.key).filter { !gone.contains($0) }
      found = removed
    }
    report.add(found)
    report.addDamaged(damaged.count)
    return report
  }

  /// Makes the fresh entries under `keys` stale in the same way.
  ///
  /// - Throws: `CacheError`: as `makeStale(_:dryRun:)`.
  public func makeStale(keys: [CacheKey], dryRun: Bool) async throws(CacheError) -> RemovalReport {
    if !dryRun { try await store.coalescer.endRequests(of: keys) }
    var (report, found, damaged) = try await find(keys)
    for key in damaged { report.damaged.add(key) }
    let fresh = EntrySelection(state: .fresh)
    found = report.addingDamaged(selected(of: found, by: fresh))
    if !dryRun { found = try await make(.stale, found) { fresh.contains($0, at: store.clock.now) } }
    report.add(found)
    return report
  }

  /// What becomes of an entry.
  private enum Change: String {
    case removed
    case stale = "made stale"
  }

  private func make(
    _ change: Change, _ selection: EntrySelection, dryRun: Bool
  ) async throws(CacheError) -> RemovalReport {
    var report = RemovalReport()
    do throws(CacheError) {
      if !dryRun { try await endRequests(selection) }
      try await visit(selection) { page throws(CacheError) in
        var page = change == .stale ? report.addingDamaged(page) : page
        if !dryRun {
          // The removal of an expired entry changes nothing for those who fetch it.
          if selection.state != .expired, selection.selectsRequestsByEntry {
            try await store.coalescer.endRequests(of: page.map(\.key))
          }
          page = try await make(change, page, mayCease: selection.mayCease) {
            selection.contains($0, at: store.clock.now)
          }
        }
        report.add(page)
      }
    } catch {
      throw error.code == .cancelled ? report.interruption(change.rawValue, dryRun: dryRun) : error
    }
    return report
  }

  /// The entries under `keys`, a report with the keys that have none, and the keys of those that cannot be decoded.
  private func find(
    _ keys: [CacheKey]
  ) async throws(CacheError) -> (report: RemovalReport, found: [ScannedEntry], damaged: [CacheKey]) {
    var report = RemovalReport()
    var found: [ScannedEntry] = []
    var damaged: [CacheKey] = []
    for key in Set(keys).sorted() {
      do throws(CacheError) {
        if let entry = try await store.entry(key) { found.append(entry) } else { report.missing.append(key) }
      } catch {
        guard error.code == .damaged else { throw error }
        damaged.append(key)
      }
    }
    return (report, found, damaged)
  }

  /// Changes `entries`, which were selected when they were found, and returns them. It also removes what is under `keys`.
  ///
  /// An entry that has been written since is changed only if it is still selected, and one that has been removed since is
  /// not returned. An engine may write much more for many changes than for one, so on a full disk they are made in parts.
  ///
  /// The requests for the entries must have been ended before.
  ///
  /// - Parameter mayCease: whether writing an entry again can end its selection.
  /// - Throws: `CacheError`: the engine failed, or other writers kept changing the entries (`conflict`); then none of
  ///   them was changed, unless there was no room (`noSpace`) to change all at once.
  private func make(
    _ change: Change, _ entries: [ScannedEntry], _ keys: [CacheKey] = [], mayCease: Bool = false,
    where isSelected: (ScannedEntry) -> Bool
  ) async throws(CacheError) -> [ScannedEntry] {
    var rest = entries
    var attempt = 1
    while !rest.isEmpty || !keys.isEmpty {
      if Task.isCancelled { throw .cancelled }
      let isLast = attempt == Self.changeAttempts
      do throws(CacheError) {
        var batch = batch(change, rest, isConditional: !isLast || mayCease)
        for key in keys { batch.remove(key) }
        try await store.engine.apply(batch)
        return rest
      } catch {
        if error.code == .noSpace, rest.count > 1 {
          let half = rest.count / 2
          let first = try await make(change, Array(rest[..<half]), keys, mayCease: mayCease, where: isSelected)
          return first + (try await make(change, Array(rest[half...]), mayCease: mayCease, where: isSelected))
        }
        guard error.code == .conflict, !isLast else { throw error }
      }
      var current: [ScannedEntry] = []
      for entry in rest {
        if let entry = try await store.entry(entry.key), isSelected(entry) { current.append(entry) }
      }
      rest = current
      attempt += 1
    }
    return []
  }

  private func batch(_ change: Change, _ entries: [ScannedEntry], isConditional: Bool) -> WriteBatch {
    var batch = WriteBatch()
    for entry in entries {
      switch change {
      case .removed where isConditional: batch.remove(entry.key, ifStill: entry.metadata.checksum)
      case .removed: batch.remove(entry.key)
      case .stale:
        var metadata = entry.metadata
        metadata.freshUntil = store.clock.now
        metadata.checksum = metadata.computedChecksum(key: entry.key)
        batch.update(entry.key, metadata: metadata, from: entry.metadata.checksum)
      }
    }
    return batch
  }
}

extension StoreAdministration {
  /// Ends the requests for entries that `selection` selects by their keys, also of those that are not in the store yet.
  func endRequests(_ selection: EntrySelection) async throws(CacheError) {
    guard selection.selectsNewEntries else { return }
    try await store.coalescer.endRequests { $0.meets(selection) }
  }

  /// Ends the requests for `url`: what is being fetched of it now is not stored.
  ///
  /// - Throws: `CacheError`: the engine failed.
  public func endRequests(for url: String) async throws(CacheError) {
    let prefix = URLResponses.keyPrefix(of: url)
    try await store.coalescer.endRequests { $0.meets(prefix: prefix) }
  }

  /// Removes all entries except leases, returns their space to the file system, and checks that an empty, intact store
  /// is left.
  ///
  /// - Parameter held: called with what the store held, before anything is removed; and again, once all is removed, with
  ///   what this call has removed. Others may have removed the rest.
  /// - Throws: `CacheError`: the engine failed, or part of the store is `damaged`; some entries may have been removed.
  public func removeAll(held: (EntryCount) -> Void) async throws(CacheError) {
    held(try await store.count().total())
    let report = try await remove(EntrySelection(), dryRun: false)
    held(EntryCount(entries: report.entries, payloadBytes: report.payloadBytes))
    // If another process is using the store, that may be impossible, but the entries are gone all the same.
    do throws(CacheError) { try await store.engine.compact() } catch { if error.code != .busy { throw error } }
    if let issue = try await store.engine.check().first { throw CacheError(.damaged, issue.message) }
  }

  /// Checks that the emptied store can hold an entry: on a full disk a removal may take up more space than it frees.
  ///
  /// - Throws: `CacheError`: the engine cannot store an entry.
  public func requireRoom() async throws(CacheError) {
    let key = try CacheKey(Lease.keyPrefix + "room")
    let metadata = EntryMetadata(
      storedAt: store.clock.now, freshUntil: store.clock.now, retainUntil: store.clock.now, contentType: "text/plain")
    var batch = WriteBatch()
    batch.put(key, payload: [], metadata: metadata)
    batch.remove(key)
    try await store.engine.apply(batch)
  }
}

extension EntrySelection {
  /// Whether writing a selected entry again can end its selection.
  fileprivate var mayCease: Bool { state != nil || minimumAge != nil }
}

/// The entries that a removal removed or made stale; after a dry run, those that it would.
public struct RemovalReport: Sendable, Hashable {
  /// The number of entries that were removed or made stale.
  public private(set) var entries: Int
  /// The total size of their payloads in bytes, as far as it is known.
  public private(set) var payloadBytes: Int
  /// The requested keys that have no entry.
  public internal(set) var missing: [CacheKey] = []
  /// The entries that are too damaged to be made stale.
  public internal(set) var damaged = KeySample()

  package init(entries: Int = 0, payloadBytes: Int = 0) {
    self.entries = entries
    self.payloadBytes = payloadBytes
  }

  mutating func add(_ page: [ScannedEntry]) {
    entries += page.count
    payloadBytes += page.reduce(0) { $0 + $1.payloadBytes }
  }

  /// Counts removed entries whose sizes are unknown.
  mutating func addDamaged(_ count: Int) { entries += count }

  /// Counts the entries of `page` whose metadata is damaged, and returns the others.
  mutating func addingDamaged(_ page: [ScannedEntry]) -> [ScannedEntry] {
    page.filter { entry in
      let isIntact = entry.metadata.computedChecksum(key: entry.key) == entry.metadata.checksum
      if !isIntact { damaged.add(entry.key) }
      return isIntact
    }
  }

  /// The error for a removal that was cancelled after what this report counts. `verb` says what happens to an entry.
  func interruption(_ verb: String, dryRun: Bool) -> CacheError {
    .interruption(
      of: dryRun ? "the dry run" : "the command", EntryProgress.text(dryRun ? 0 : entries, verb),
      hint: "run it again to continue")
  }
}
