internal import FetchVocabulary
public import StorageSPI

/// Lists the entries of a store, sorted by key, page by page.
struct StoreWalk {
  /// The most entries in a page.
  static let pageSize = 1_000

  private let engine: any StorageEngine
  private var pageSize: Int
  /// What is still to be listed; `nil` at the end.
  private var range: KeyRange?

  init(engine: any StorageEngine, _ range: KeyRange = KeyRange(), pageSize: Int = pageSize) {
    (self.engine, self.range, self.pageSize) = (engine, range, pageSize)
  }

  /// The next entries; `nil` at the end. Pages get smaller in front of damage, so that everything before it is listed.
  ///
  /// - Throws: `CacheError`: the engine's failure, `damaged` among them; `cancelled`.
  mutating func next() async throws(CacheError) -> [EntrySummary]? {
    guard let range else { return nil }
    if Task.isCancelled { throw .cancelled }
    let page: [EntrySummary]
    do throws(CacheError) {
      page = try await engine.scan(range, limit: pageSize)
    } catch {
      guard error.code == .damaged, pageSize > 1 else { throw error }
      pageSize = (pageSize + 9) / 10
      return try await next()
    }
    self.range?.after = page.last?.key
    if page.count < pageSize { self.range = nil }
    return page.isEmpty ? nil : page
  }
}

/// Lists the selected entries of a store in the same way.
struct EntryWalk {
  private let store: EntryStore
  private let selection: EntrySelection
  private let includesLeases: Bool
  private var walk: StoreWalk?

  /// Creates a walk through the entries of `store` after `cursor` that `selection` selects.
  ///
  /// - Parameters:
  ///   - includesLeases: whether to list leases of flights like other entries, if their namespace is selected.
  init(
    _ store: EntryStore, _ selection: EntrySelection = EntrySelection(), after cursor: CacheKey? = nil,
    includesLeases: Bool = false
  ) {
    (self.store, self.selection, self.includesLeases) = (store, selection, includesLeases)
    walk = selection.keyPrefix.map { StoreWalk(engine: store.engine, KeyRange(prefix: $0, after: cursor)) }
  }

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

/// Reads the selected entries of a store completely, one after another. It skips entries that vanish before their turn,
/// and skips and counts those that are not what was written.
struct EntryReading {
  private let store: EntryStore
  private var walk: EntryWalk
  private var ahead: ReadAhead
  private var page: ArraySlice<EntrySummary> = []
  private var pageHistories: [CacheKey: AccessHistory] = [:]

  /// The entries that are not what was written.
  private(set) var damaged = KeySample()
  /// The number of entries that had expired when their turn came.
  private(set) var expired = 0
  /// Whether to skip expired entries.
  private let skipsExpired: Bool

  init(_ store: EntryStore, _ selection: EntrySelection = EntrySelection(), skipsExpired: Bool = false) {
    (self.store, self.skipsExpired) = (store, skipsExpired)
    walk = EntryWalk(store, selection)
    ahead = ReadAhead(store.engine)
  }

  /// The next entry; `nil` at the end.
  ///
  /// - Throws: `CacheError`: the engine failed, the use of entries cannot be read, or `cancelled`.
  mutating func next() async throws(CacheError) -> ExportedEntry? {
    while let summary = try await nextSummary() {
      let (key, history) = (summary.key, pageHistories[summary.key])
      if skipsExpired, summary.metadata.state(at: store.clock.now) == .expired {
        expired += 1
        continue
      }
      do throws(CacheError) {
        let entry = try await ahead.read(key) { bytes, metadata throws(CacheError) in
          try ExportedEntry(verifying: bytes, metadata, key: key, history: history)
        }
        guard let entry else { continue }
        if entry.metadata.transformSteps != nil { return entry }
        damaged.add(key)
      } catch {
        guard error.code == .damaged else { throw error }
        damaged.add(key)
      }
    }
    return nil
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

extension EntryStore {
  /// The number of entries without leases.
  ///
  /// - Throws: `CacheError`: the engine failed.
  func count() async throws(CacheError) -> Int {
    try await engine.statistics().tally.total(except: Lease.namespace).entries
  }
}

extension EntryTally {
  /// The tally shown to people: everything except the leases of flights.
  public var withoutLeases: EntryTally { without(Lease.namespace) }
}

extension CacheError {
  /// Whether the failure concerns the stored data rather than the way it was requested, so that other entries may still
  /// be readable.
  package var isOfData: Bool { [.damaged, .unsupportedFormat, .ioFailed, .failed].contains(code) }
}

/// A sample of any number of keys: how many there are, and the first of them.
public struct KeySample: Sendable, Hashable {
  /// How many keys to keep.
  private static let size = 10

  /// The number of keys.
  public private(set) var count = 0
  /// The first ten keys.
  public private(set) var first: [CacheKey] = []

  /// Creates an empty sample.
  public init() {}

  package mutating func add(_ key: CacheKey) {
    count += 1
    if first.count < Self.size { first.append(key) }
  }

  mutating func add(_ other: KeySample) {
    count += other.count
    first += other.first.prefix(Self.size - first.count)
  }
}
