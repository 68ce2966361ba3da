internal import CacheDomain
internal import StorageSPI

/// Goes through the selected entries of a store in the order of their keys, a page at a time, and past those that the
/// engine cannot decode. Leases stay where they are, whatever is selected.
struct EntryWalk {
  /// How many entries a page has at most.
  static let pageSize = 1_000

  private let store: EntryStore
  private let selection: EntrySelection
  private let prefix: String?
  private var last: CacheKey?
  private var limit = pageSize
  private var isAtEnd: Bool
  /// The keys of the entries that the engine says it cannot decode; `nil` as long as it was not asked.
  private var undecodable: [CacheKey]?

  /// The entries that cannot be decoded, as far as the walk has come.
  private(set) var damaged = KeySample()

  /// A walk through those entries of `store` that `selection` selects.
  init(_ store: EntryStore, _ selection: EntrySelection = EntrySelection()) {
    self.store = store
    self.selection = selection
    prefix = selection.keyPrefix
    isAtEnd = prefix == nil
  }

  /// The next entries; `nil` where there are no more.
  ///
  /// - Throws: `CacheError`: the engine failed; `damaged` where it cannot tell which entry keeps it from going on;
  ///   `cancelled`.
  mutating func next() async throws(CacheError) -> [EntrySummary]? {
    while !isAtEnd {
      if Task.isCancelled { throw .cancelled }
      await store.engine.releaseMemory()
      let page: [EntrySummary]
      do throws(StorageError) { page = try await scan() } catch { throw CacheError(error) }
      let now = store.clock.now
      let selected = page.filter { $0.key.namespace != Lease.namespace && selection.contains($0, at: now) }
      if !selected.isEmpty { return selected }
    }
    return nil
  }

  /// The next page, which is empty where all that was done is to go past an entry or to try a smaller page.
  private mutating func scan() async throws(StorageError) -> [EntrySummary] {
    do throws(StorageError) {
      let page = try await store.engine.scan(KeyRange(prefix: prefix ?? "", after: last), limit: limit)
      isAtEnd = page.count < limit
      last = page.last?.key ?? last
      return page
    } catch {
      guard error.code == .damaged else { throw error }
      try await passDamage(error)
      return []
    }
  }

  /// Comes closer to the entry that cannot be decoded, and goes past it once it is the next one.
  private mutating func passDamage(_ error: StorageError) async throws(StorageError) {
    guard limit == 1 else { return limit = max(1, limit / 8) }
    let keys: [CacheKey]
    if let undecodable { keys = undecodable } else { keys = try await undecodableKeys() }
    undecodable = keys
    // To go on behind an entry that the error is not about would leave out all those before it, and nobody would be told.
    guard let next = keys.first(where: { KeyRange(prefix: prefix ?? "", after: last).contains($0) }),
      error.isAbout(next)
    else { throw error }
    damaged.add(next)
    last = next
    limit = Self.pageSize
  }

  private func undecodableKeys() async throws(StorageError) -> [CacheKey] {
    let issues = try await store.engine.checkIntegrity()
    return Set(issues.compactMap(\.key)).sorted()
  }
}

extension EntryStore {
  /// How many entries there are, leases aside.
  ///
  /// - Throws: `CacheError`: the engine failed.
  func count() async throws(CacheError) -> Int {
    do throws(StorageError) {
      return try await engine.statistics().tally.total(except: Lease.namespace).entries
    } catch {
      throw CacheError(error)
    }
  }
}
