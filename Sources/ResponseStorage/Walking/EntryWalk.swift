internal import CacheDomain
internal import StorageSPI

/// Goes through the selected entries of a store in the order of their keys, a page at a time, and past what is damaged.
struct EntryWalk {
  private let store: EntryStore
  private let selection: EntrySelection
  private let includesLeases: Bool
  private var walk: StoreWalk?

  /// A walk through those entries of `store` after `cursor` that `selection` selects.
  ///
  /// - Parameter includesLeases: whether the leases of flights are entries like others where their namespace is selected.
  init(
    _ store: EntryStore, _ selection: EntrySelection = EntrySelection(), after cursor: CacheKey? = nil,
    includesLeases: Bool = false
  ) {
    (self.store, self.selection, self.includesLeases) = (store, selection, includesLeases)
    walk = selection.keyPrefix.map { StoreWalk(engine: store.engine, KeyRange(prefix: $0, after: cursor)) }
  }

  /// What could not be listed, as far as the walk has come.
  var damage: StoreDamage { store.damage + (walk.map { StoreDamage($0) } ?? StoreDamage()) }

  /// The next entries; `nil` where there are no more.
  ///
  /// - Throws: `CacheError`: the engine failed; `cancelled`.
  mutating func next() async throws(CacheError) -> [EntrySummary]? {
    do throws(StorageError) {
      while let page = try await walk?.next() {
        await store.engine.releaseMemory()
        let now = store.clock.now
        let selected = page.filter {
          (includesLeases || $0.key.namespace != Lease.namespace) && selection.contains($0, at: now)
        }
        if !selected.isEmpty { return selected }
      }
      return nil
    } catch {
      throw CacheError(error)
    }
  }
}
