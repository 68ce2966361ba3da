internal import FetchVocabulary
internal import StorageSPI

/// Walks through the selected entries of a store, sorted by key, page by page, and past damage.
struct EntryWalk {
  private let store: EntryStore
  private let selection: EntrySelection
  private let includesLeases: Bool
  private var walk: StoreWalk?

  /// Creates a walk through the entries of `store` after `cursor` that `selection` selects.
  ///
  /// - Parameter includesLeases: whether to list leases of flights like other entries, if their namespace is selected.
  init(
    _ store: EntryStore, _ selection: EntrySelection = EntrySelection(), after cursor: CacheKey? = nil,
    includesLeases: Bool = false
  ) {
    (self.store, self.selection, self.includesLeases) = (store, selection, includesLeases)
    walk = selection.keyPrefix.map { StoreWalk(engine: store.engine, KeyRange(prefix: $0, after: cursor)) }
  }

  /// What could not be listed so far.
  var damage: StoreDamage { store.damage + (walk.map { StoreDamage($0) } ?? StoreDamage()) }

  /// The next entries; `nil` at the end.
  ///
  /// - Throws: `CacheError`: the engine failed; `cancelled`.
  mutating func next() async throws(CacheError) -> [EntrySummary]? {
    while let page = try await walk?.next() {
      await store.engine.releaseMemory()
      let now = store.clock.now
      let selected = page.filter {
        (includesLeases || $0.key.namespace != Lease.namespace) && selection.contains($0, at: now)
      }
      if !selected.isEmpty { return selected }
    }
    return nil
  }
}
