public import EngineAPI

/// A change of an entry.
public enum EntryChange: Sendable {
  /// It is removed.
  case remove
  /// It becomes stale: then the next fetch requests it from the origin, and can still serve it if that fails.
  case makeStale

  fileprivate var participle: String { self == .remove ? "removed" : "made stale" }
}

/// Removing entries, and making them stale.
extension StoreAdministration {
  /// How often other writers can be faster before a change gives up, or a removal ignores what they have written.
  static let changeAttempts = 100

  /// Changes the selected entries, in pages; with `dryRun` it only counts them. Responses for the selected entries that
  /// are being fetched now are not stored.
  ///
  /// Only fresh entries are made stale. Those whose metadata is damaged are left alone and reported. Cost: payloads are
  /// neither read nor written, unless the engine keeps them together with the metadata.
  ///
  /// - Throws: `CacheError`: the engine failed, or other writers kept changing entries (`conflict`). The message says how
  ///   many entries were changed before; they stay changed.
  public func change(
    _ change: EntryChange, _ selection: EntrySelection, dryRun: Bool
  ) async throws(CacheError) -> RemovalReport {
    var selection = selection
    if change == .makeStale {
      guard selection.state ?? .fresh == .fresh else { return RemovalReport() }
      selection.state = .fresh
    }
    var report = RemovalReport()
    do throws(CacheError) {
      if !dryRun { try await endRequests(selection) }
      try await visit(selection) { page throws(CacheError) in
        let page = change == .makeStale ? report.addingDamaged(page) : page
        if dryRun { return report.add(page) }
        // The removal of an expired entry changes nothing for those who fetch it.
        if selection.state != .expired, selection.selectsRequestsByEntry {
          try await store.coalescer.endRequests(of: page.map(\.key))
        }
        _ = try await make(change, page, mayCease: selection.mayCease, &report) {
          selection.contains($0, at: store.clock.now)
        }
      }
    } catch {
      throw report.failure(error, change, dryRun: dryRun)
    }
    return report
  }

  /// Changes the entries under `keys` in the same way; with `dryRun` it only looks for them. Counts only what this call
  /// changes, and not what another writer has removed meanwhile.
  ///
  /// - Throws: `CacheError`: the engine failed. No entry was changed, unless there was no room to change all at once.
  public func change(
    _ change: EntryChange, keys: [CacheKey], dryRun: Bool
  ) async throws(CacheError) -> RemovalReport {
    if !dryRun { try await store.coalescer.endRequests(of: keys) }
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
    let selection = EntrySelection(state: change == .makeStale ? .fresh : nil)
    if change == .makeStale {
      for key in damaged { report.damaged.add(key) }
      damaged = []
      found = report.addingDamaged(selected(of: found, by: selection))
    }
    if dryRun {
      report.add(found)
      report.addDamaged(damaged.count)
      return report
    }
    do throws(CacheError) {
      let changed = try await make(change, found, damaged, &report) { selection.contains($0, at: store.clock.now) }
      let gone = Set(changed.map(\.key))
      if change == .remove { report.missing += found.map(\.key).filter { !gone.contains($0) } }
    } catch {
      throw report.failure(error, change, dryRun: false)
    }
    return report
  }

  /// Changes `entries`, which were selected when they were found, adds them to the report, and returns them. It also
  /// removes the entries under `keys`.
  ///
  /// An entry that has been written since is changed only if it is still selected, and one that has been removed since
  /// is not returned. An engine can write much more for many changes than for one, so on a full disk they are made in
  /// parts.
  ///
  /// The requests for the entries must have been ended before.
  ///
  /// - Parameter mayCease: whether writing an entry again can end its selection.
  /// - Throws: `CacheError`: the engine failed, or other writers kept changing the entries (`conflict`); then only those of
  ///   them were changed that the report counts.
  private func make(
    _ change: EntryChange, _ entries: [ScannedEntry], _ keys: [CacheKey] = [], mayCease: Bool = false,
    _ report: inout RemovalReport, where isSelected: (ScannedEntry) -> Bool
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
        report.add(rest)
        report.addDamaged(keys.count)
        return rest
      } catch {
        if error.code == .noSpace, rest.count > 1 {
          let half = rest.count / 2
          let first = try await make(
            change, Array(rest[..<half]), keys, mayCease: mayCease, &report, where: isSelected)
          let second = try await make(change, Array(rest[half...]), mayCease: mayCease, &report, where: isSelected)
          return first + second
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

  private func batch(_ change: EntryChange, _ entries: [ScannedEntry], isConditional: Bool) -> WriteBatch {
    var batch = WriteBatch()
    for entry in entries {
      switch change {
      case .remove where isConditional: batch.remove(entry.key, ifStill: entry.metadata.checksum)
      case .remove: batch.remove(entry.key)
      case .makeStale:
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

  /// Ends the requests for `url`: responses that are being fetched now are not stored.
  ///
  /// - Throws: `CacheError`: the engine failed.
  public func endRequests(for url: String) async throws(CacheError) {
    let prefix = URLResponses.keyPrefix(of: url)
    try await store.coalescer.endRequests { $0.meets(prefix: prefix) }
  }

  /// Removes all entries except leases, returns their space to the file system, and checks that an empty, intact store
  /// is left.
  ///
  /// - Parameter held: called with what the store held, before anything is removed, if its engine is `bounded`; and again,
  ///   once all is removed, with what this call has removed. Others might have removed the rest.
  /// - Throws: `CacheError`: the engine failed, or part of the store is `damaged`; some entries might have been
  ///   removed.
  public func removeAll(held: (EntryCount) -> Void) async throws(CacheError) {
    if let count = try await store.count() { held(count.total()) }
    let report = try await change(.remove, EntrySelection(), dryRun: false)
    held(EntryCount(entries: report.entries, payloadBytes: report.payloadBytes))
    // If another process is using the store, that might be impossible, but the entries are gone all the same.
    do throws(CacheError) { try await store.engine.compact() } catch { if error.code != .busy { throw error } }
    if let issue = try await store.engine.check().first { throw CacheError(.damaged, issue.message) }
  }

  /// Checks that the emptied store can hold an entry: on a full disk a removal can take up more space than it frees.
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

  /// The error for a change that was cancelled after what this report counts.
  func interruption(_ change: EntryChange, dryRun: Bool) -> CacheError {
    .interruption(
      of: dryRun ? "the dry run" : "the command", EntryProgress.text(dryRun ? 0 : entries, change.participle),
      hint: "run it again to continue")
  }

  /// `error`, which has ended a change after what this report counts.
  fileprivate func failure(_ error: CacheError, _ change: EntryChange, dryRun: Bool) -> CacheError {
    if error.code == .cancelled { return interruption(change, dryRun: dryRun) }
    if dryRun || entries == 0 { return error }
    return CacheError(
      error.code, "\(error.message); before that, \(EntryProgress.text(entries, change.participle))", hint: error.hint,
      key: error.key, cause: error.cause)
  }
}
