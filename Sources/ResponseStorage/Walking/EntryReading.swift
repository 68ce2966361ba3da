internal import CacheDomain
internal import StorageSPI

/// Reads the selected entries of a store in full, one after another. Those that are damaged are left out and counted;
/// those that are gone before their turn comes are left out.
struct EntryReading {
  private let store: EntryStore
  private var walk: EntryWalk
  private var page: ArraySlice<EntrySummary> = []
  private var pageUses: [CacheKey: EntryUse] = [:]
  private var unreadable = StoreDamage()

  /// The number of entries that were expired when their turn came.
  private(set) var expired = 0
  /// Whether expired entries are left out.
  private let skipsExpired: Bool

  init(_ store: EntryStore, _ selection: EntrySelection = EntrySelection(), skipsExpired: Bool = false) {
    (self.store, self.skipsExpired) = (store, skipsExpired)
    walk = EntryWalk(store, selection)
  }

  /// What could not be read, as far as the reading has come.
  var damage: StoreDamage { store.salvageDamage ?? walk.damage + unreadable }

  /// The next entry; `nil` where there are no more.
  ///
  /// - Throws: `CacheError`: the engine failed, the use of entries cannot be read, or `cancelled`.
  mutating func next() async throws(CacheError) -> ExportedEntry? {
    while let summary = try await nextSummary() {
      if skipsExpired, summary.metadata.state(at: store.clock.now) == .expired {
        expired += 1
        continue
      }
      do throws(StorageError) {
        if let entry = try await store.export(summary.key, use: pageUses[summary.key]) { return entry }
      } catch {
        guard error.code == .damaged else { throw CacheError(error) }
        unreadable.add(summary.key)
      }
    }
    return nil
  }

  private mutating func nextSummary() async throws(CacheError) -> EntrySummary? {
    while page.isEmpty {
      guard let next = try await walk.next() else { return nil }
      page = next[...]
      pageUses = try uses(of: next.map(\.key))
    }
    return page.removeFirst()
  }

  /// The use of those of the entries under `keys` of which one is known.
  private func uses(of keys: [CacheKey]) throws(CacheError) -> [CacheKey: EntryUse] {
    var known: [CacheKey: EntryUse] = [:]
    for (key, use) in zip(keys, try store.uses.uses(of: keys)) where use != EntryUse() { known[key] = use }
    return known
  }
}
