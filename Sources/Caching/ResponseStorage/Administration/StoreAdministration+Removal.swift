public import FetchVocabulary
public import StorageSPI

extension StoreAdministration {
  /// Removes all entries except leases, returns their space to the file system, and checks that an empty, intact store
  /// is left.
  ///
  /// - Parameter held: called with what the store held, before anything is removed; and again, once all is removed, with
  ///   what this call has removed. Others may have removed the rest.
  /// - Throws: `CacheError`: the engine failed, or part of the store is `damaged`; some entries may have been removed.
  public func removeAll(held: (EntryTally.Count) -> Void) async throws(CacheError) {
    held(try await store.engine.statistics().tally.total(except: Lease.namespace))
    let report = try await remove(EntrySelection(), dryRun: false)
    held(EntryTally.Count(entries: report.entries, payloadBytes: report.payloadBytes))
    try await giveRoomBack()
    if let issue = try await store.engine.checkIntegrity().first { throw CacheError(.damaged, issue.message) }
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

  /// Returns space to the file system, as a full disk cannot store anything before that. If another process is using
  /// the store, that may be impossible, but the entries are gone all the same.
  private func giveRoomBack() async throws(CacheError) {
    do throws(CacheError) {
      try await store.engine.compact()
    } catch {
      guard error.code == .busy else { throw error }
    }
  }

  /// How often other writers may be faster before a removal gives up, or no longer asks what they have written.
  static let removalAttempts = 100

  /// Removes the entries of `page`, which `selection` selected when they were listed, and returns them. An entry that
  /// has been written since is removed only if it is still selected, and one that has been removed since is not
  /// returned: another process may have updated or removed it.
  ///
  /// An engine may write much more for many removals than for one, so on a full disk they are made in parts.
  ///
  /// The flights that `selection` meets by its keys must have been ended before.
  ///
  /// - Throws: `CacheError`: the engine failed, or other writers kept changing the entries (`conflict`); then none of
  ///   the page was removed, unless there was no room (`noSpace`) to remove all of it at once.
  func remove(
    _ page: [EntrySummary], selectedBy selection: EntrySelection
  ) async throws(CacheError) -> [EntrySummary] {
    // A removal of what has expired changes nothing for those who fetch it.
    if selection.state != .expired, selection.selectsFlightsByEntry {
      try await store.endFlights(of: page.map(\.key))
    }
    var (rest, attempt) = (page, 0)
    while true {
      attempt += 1
      let isLast = attempt == Self.removalAttempts
      do throws(CacheError) {
        try await remove(rest, isConditional: !isLast || selection.mayCease)
        return rest
      } catch {
        if error.code == .noSpace, rest.count > 1 {
          let first = rest.count / 2
          return try await remove(Array(rest.prefix(first)), selectedBy: selection)
            + remove(Array(rest.dropFirst(first)), selectedBy: selection)
        }
        guard error.code == .conflict, !isLast else { throw error }
      }
      rest = try await current(rest, selectedBy: selection)
    }
  }

  /// Removes `entries` and what is under `keys`, in one batch: with `isConditional` only if all of `entries` are still
  /// the same.
  func remove(_ entries: [EntrySummary], _ keys: [CacheKey] = [], isConditional: Bool) async throws(CacheError) {
    var batch = WriteBatch()
    for entry in entries {
      if isConditional { batch.remove(entry.key, ifStill: entry.metadata.checksum) } else { batch.remove(entry.key) }
    }
    for key in keys { batch.remove(key) }
    try await store.engine.apply(batch)
  }

  /// Those of `entries` that still exist and are still selected, in their present state.
  private func current(
    _ entries: [EntrySummary], selectedBy selection: EntrySelection
  ) async throws(CacheError) -> [EntrySummary] {
    var found: [EntrySummary] = []
    for entry in entries {
      let listed = try await store.engine.scan(KeyRange(prefix: entry.key.text), limit: 1).first
      if let listed, listed.key == entry.key, selection.contains(listed, at: store.clock.now) { found.append(listed) }
    }
    return found
  }
}

extension EntrySelection {
  /// Whether writing a selected entry again can end its selection.
  fileprivate var mayCease: Bool { state != nil || minimumAge != nil }
}

/// What a removal removed or made stale; after a dry run, what it would.
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
    (self.entries, self.payloadBytes) = (entries, payloadBytes)
  }

  mutating func add(_ page: [EntrySummary]) {
    entries += page.count
    payloadBytes += page.reduce(0) { $0 + $1.payloadBytes }
  }

  mutating func addDamaged() { entries += 1 }

  mutating func add(_ other: RemovalReport) {
    entries += other.entries
    payloadBytes += other.payloadBytes
    missing += other.missing
    damaged.add(other.damaged)
  }

  /// The error for a removal that was cancelled after what this report counts. `verb` says what happens to an entry.
  func interruption(_ verb: String, dryRun: Bool) -> CacheError {
    .interruption(
      of: dryRun ? "the dry run" : "the command", EntryProgress.text(dryRun ? 0 : entries, verb),
      hint: "repeat it to go on")
  }
}
