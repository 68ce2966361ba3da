internal import FetchVocabulary
internal import StorageSPI

/// Reads the selected entries of a store completely, one after another. Skips and counts damaged entries; skips entries
/// that vanish before their turn.
struct EntryReading {
  private let store: EntryStore
  private let selection: EntrySelection
  private var walk: EntryWalk
  private var ahead: ReadAhead
  /// Whether the walk lists what a repair would save, rather than the damaged store.
  private var isOverSalvage: Bool
  /// The last entry that was returned, or skipped for good.
  private var last: CacheKey?
  private var page: ArraySlice<EntrySummary> = []
  private var pageHistories: [CacheKey: AccessHistory] = [:]
  private var unreadable = StoreDamage()

  /// The number of entries that had expired when their turn came.
  private(set) var expired = 0
  /// Whether to skip expired entries.
  private let skipsExpired: Bool

  init(_ store: EntryStore, _ selection: EntrySelection = EntrySelection(), skipsExpired: Bool = false) {
    (self.store, self.selection, self.skipsExpired) = (store, selection, skipsExpired)
    walk = EntryWalk(store, selection)
    ahead = ReadAhead(store.engine)
    isOverSalvage = store.salvageDamage != nil
  }

  /// What could not be read so far.
  var damage: StoreDamage { (store.salvageDamage ?? walk.damage) + unreadable }

  /// The next entry; `nil` at the end.
  ///
  /// - Throws: `CacheError`: the engine failed, the use of entries cannot be read, or `cancelled`.
  mutating func next() async throws(CacheError) -> ExportedEntry? {
    while let summary = try await nextSummary() {
      if skipsExpired, summary.metadata.state(at: store.clock.now) == .expired {
        expired += 1
        last = summary.key
        continue
      }
      let result = await export(summary)
      if restartsOverSalvage() { continue }
      last = summary.key
      switch result {
      case .success(let entry?) where entry.metadata.transformSteps == nil: unreadable.add(summary.key)
      case .success(let entry): if let entry { return entry }
      case .failure(let error) where error.code == .damaged: unreadable.add(summary.key)
      case .failure(let error): throw error
      }
    }
    return nil
  }

  private mutating func export(_ summary: EntrySummary) async -> Result<ExportedEntry?, CacheError> {
    let (key, history) = (summary.key, pageHistories[summary.key])
    do throws(CacheError) {
      return .success(
        try await ahead.read(key) { bytes, metadata throws(CacheError) in
          try ExportedEntry(verifying: bytes, metadata, key: key, history: history)
        })
    } catch {
      return .failure(error)
    }
  }

  /// Lists the remaining entries again if a salvage has replaced the store since they were listed: a damaged store may
  /// have given damaged keys.
  private mutating func restartsOverSalvage() -> Bool {
    guard !isOverSalvage, store.salvageDamage != nil else { return false }
    isOverSalvage = true
    (walk, page, unreadable) = (EntryWalk(store, selection, after: last), [], StoreDamage())
    return true
  }

  private mutating func nextSummary() async throws(CacheError) -> EntrySummary? {
    while page.isEmpty {
      guard let next = try await walk.next() else { return nil }
      page = next[...]
      ahead.expect(skipsExpired ? next.filter { $0.metadata.state(at: store.clock.now) != .expired } : next)
      pageHistories = try histories(of: next.map(\.key))
    }
    return page.removeFirst()
  }

  /// The known uses of the entries under `keys`.
  private func histories(of keys: [CacheKey]) throws(CacheError) -> [CacheKey: AccessHistory] {
    var known: [CacheKey: AccessHistory] = [:]
    for (key, history) in zip(keys, try store.accesses.histories(of: keys)) where history != AccessHistory() {
      known[key] = history
    }
    return known
  }
}
