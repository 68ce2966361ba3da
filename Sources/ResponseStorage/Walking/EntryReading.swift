internal import CacheDomain
internal import StorageSPI

/// Reads the selected entries of a store in full, one after another. Those that are damaged are left out and counted;
/// those that are gone before their turn comes are left out.
struct EntryReading {
  private let store: EntryStore
  private let selection: EntrySelection
  private var walk: EntryWalk
  /// Whether the walk lists what a repair would save, and not the damaged store.
  private var isOverSalvage: Bool
  /// The last entry that was given or left out for good.
  private var last: CacheKey?
  private var page: ArraySlice<EntrySummary> = []
  private var pageUses: [CacheKey: EntryUse] = [:]
  private var unreadable = StoreDamage()

  /// The number of entries that were expired when their turn came.
  private(set) var expired = 0
  /// Whether expired entries are left out.
  private let skipsExpired: Bool

  init(_ store: EntryStore, _ selection: EntrySelection = EntrySelection(), skipsExpired: Bool = false) {
    (self.store, self.selection, self.skipsExpired) = (store, selection, skipsExpired)
    walk = EntryWalk(store, selection)
    isOverSalvage = store.salvageDamage != nil
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
        last = summary.key
        continue
      }
      let result = await export(summary)
      if restartsOverSalvage() { continue }
      last = summary.key
      switch result {
      case .success(let entry): if let entry { return entry }
      case .failure(let error) where error.code == .damaged: unreadable.add(summary.key)
      case .failure(let error): throw CacheError(error)
      }
    }
    return nil
  }

  private func export(_ summary: EntrySummary) async -> Result<ExportedEntry?, StorageError> {
    do throws(StorageError) {
      return .success(try await store.export(summary.key, use: pageUses[summary.key]))
    } catch {
      return .failure(error)
    }
  }

  /// Lists the entries that are left anew if the salvage has taken the store's place since they were listed: a damaged
  /// store may have named them by damaged keys.
  private mutating func restartsOverSalvage() -> Bool {
    guard !isOverSalvage, store.salvageDamage != nil else { return false }
    isOverSalvage = true
    (walk, page) = (EntryWalk(store, selection, after: last), [])
    return true
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
