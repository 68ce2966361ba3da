internal import CacheComposition
internal import CacheDomain
internal import CachePresentation
internal import CacheData
internal import ResponseStorage
internal import StorageSPI

/// Presents the administration of a store as views.
struct StorePresenter: Sendable {
  let store: OpenStore
  let configuration: Configuration

  init(store: OpenStore, configuration: Configuration) {
    self.store = store
    self.configuration = configuration
  }

  /// Passes the first `limit` (1 or more) selected entries after the key `cursor` to `body`, a page at a time, each
  /// page with the time it was read, since 1970-01-01T00:00:00Z.
  ///
  /// - Returns: the key to continue after, `nil` at the end; and what could not be listed.
  /// - Throws: `CacheError`: the cursor is not a key, `body` failed, or the engine failed.
  func entries(
    _ conditions: EntryConditions, after cursor: String?, limit: Int,
    _ body: (_ page: [EntryRow], _ readAt: Duration) throws(CacheError) -> Void
  ) async throws(CacheError) -> (cursor: String?, damage: DamageList) {
    let cursor: CacheKey? = if let cursor { try CacheKey(argument: cursor) } else { nil }
    let (next, damage) = try await store.administration.list(conditions.selection, after: cursor, limit: limit) {
      page, readAt throws(CacheError) in
      try body(page.map { EntryRow($0, at: readAt) }, readAt.sinceEpoch)
    }
    return (next?.text, DamageList(damage))
  }

  /// Passes the first `limit` (1 or more) selected entries in `order` to `body`, a page at a time.
  ///
  /// - Returns: what could not be listed.
  /// - Throws: `CacheError`: `body` failed, or the engine failed.
  func entries(
    _ conditions: EntryConditions, by order: EntryOrder, limit: Int,
    _ body: (_ page: [EntryRow], _ readAt: Duration) throws(CacheError) -> Void
  ) async throws(CacheError) -> DamageList {
    let listing = try await store.administration.list(conditions.selection, by: order, limit: limit)
    try body(listing.entries.map { EntryRow($0, at: listing.readAt) }, listing.readAt.sinceEpoch)
    return DamageList(listing.damage)
  }

  /// The first `limit` (1 or more) keys with the prefix `beginning`.
  ///
  /// - Throws: `CacheError`: the engine failed.
  func keys(beginning: String, limit: Int) async throws(CacheError) -> [String] {
    let selection = EntrySelection(prefix: beginning)
    return try await store.administration.list(selection, after: nil, limit: limit).entries.map(\.key.text)
  }

  /// The entry called `name`, a key or a URL, with its payload.
  ///
  /// - Throws: `CacheError`: `notFound` if there is none, `damaged` if it is not what was written, `invalidRequest` if
  ///   a URL has several.
  func entry(_ name: String) async throws(CacheError) -> (view: EntryView, payload: [UInt8]) {
    let name = try EntryName(name)
    let keys = try await self.keys(name)
    guard keys.count < 2 else { throw name.ambiguity(keys) }
    guard let cacheKey = keys.first, let entry = try await store.administration.entry(cacheKey) else {
      throw Self.notFound(name.text)
    }
    let view = EntryView(
      EntryRow(entry.summary, at: entry.readAt),
      use: EntryView.Use(try store.entries.accesses.histories(of: [cacheKey])),
      attributes: entry.summary.metadata.attributes,
      payload: entry.payload, now: entry.readAt.sinceEpoch)
    return (view, entry.payload)
  }

  /// The error that the key or URL `name` has no entry.
  static func notFound(_ name: String) -> CacheError {
    CacheError(.notFound, "there is no entry \(name)", hint: "see which there are with: cachectl ls")
  }

  /// Removes the selected entries, or makes them stale; `dryRun` only counts them.
  ///
  /// - Throws: `CacheError`: the engine failed.
  func remove(
    _ conditions: EntryConditions, softly isSoft: Bool, dryRun: Bool
  ) async throws(CacheError) -> RemovalView {
    let (administration, selection) = (store.administration, conditions.selection)
    let report =
      isSoft
      ? try await administration.makeStale(selection, dryRun: dryRun)
      : try await administration.remove(selection, dryRun: dryRun)
    return view(of: report, isSoft, dryRun)
  }

  /// Removes the entries called `names`, keys or URLs, or makes them stale; `dryRun` only looks for them. A URL stands
  /// for all its entries.
  ///
  /// - Throws: `CacheError`: a text is neither a key nor a URL, or the engine failed.
  func remove(names: [String], softly isSoft: Bool, dryRun: Bool) async throws(CacheError) -> RemovalView {
    var (keys, missing) = ([CacheKey](), [String]())
    for name in names {
      let name = try EntryName(name)
      let named = try await self.keys(name)
      if named.isEmpty { missing.append(name.text) }
      keys += named
    }
    let administration = store.administration
    let report =
      isSoft
      ? try await administration.makeStale(keys: keys, dryRun: dryRun)
      : try await administration.remove(keys: keys, dryRun: dryRun)
    return view(of: report, isSoft, dryRun, missing: missing)
  }

  /// The key `name`, or the keys of all entries for the URL `name`.
  private func keys(_ name: EntryName) async throws(CacheError) -> [CacheKey] {
    switch name {
    case .key(let key): return [key]
    case .url(let url):
      let prefix = EngineHTTPResponseStorage.keyPrefix(of: url)
      let listing = try await store.administration.list(EntrySelection(prefix: prefix), after: nil, limit: .max)
      return listing.entries.map(\.key) + listing.damage.entries.first
    }
  }

  /// How much the store contains, and how often it answers.
  ///
  /// - Throws: `CacheError`: the engine failed.
  func statistics() async throws(CacheError) -> StatisticsView {
    let report = try await store.administration.statistics()
    var view = StatisticsView(backend: configuration.backend, path: configuration.storePath)
    view.namespaces = report.tally.namespaces.sorted { $0.key < $1.key }.map { name, count in
      StatisticsView.Namespace(name: name, entries: count.entries, payloadBytes: count.payloadBytes)
    }
    (view.storageBytes, view.damage) = (report.storageBytes, DamageList(report.damage))
    (view.fresh, view.stale, view.expired) = (report.count(.fresh), report.count(.stale), report.count(.expired))
    view.isEstimated = report.isEstimated
    (view.hits, view.misses) = (report.operations.hits, report.operations.misses)
    view.evictions = report.operations.evictions
    return view
  }

  private func view(
    of report: RemovalReport, _ isSoft: Bool, _ isDryRun: Bool, missing: [String] = []
  ) -> RemovalView {
    RemovalView(
      backend: configuration.backend, removed: report.entries, bytes: report.payloadBytes,
      missing: report.missing.map(\.text) + missing, damage: DamageList(report.damage), isDryRun: isDryRun,
      isSoft: isSoft)
  }
}

extension AppDIContainer {
  /// The presenter for the administration of `store`.
  func makeStorePresenter(_ store: OpenStore) -> StorePresenter {
    StorePresenter(store: store, configuration: configuration)
  }
}

extension EntryRow {
  init(_ entry: EntrySummary, at now: Timestamp) {
    self.init(
      key: entry.key.text, namespace: entry.key.namespace, bytes: entry.payloadBytes,
      storedAt: entry.metadata.storedAt.sinceEpoch, freshUntil: entry.metadata.freshUntil.sinceEpoch,
      retainUntil: entry.metadata.retainUntil.sinceEpoch, state: State(entry.metadata.state(at: now)),
      contentType: entry.metadata.contentType)
  }
}

extension EntryView.Use {
  fileprivate init(_ uses: [AccessHistory]) {
    let use = uses.reduce(AccessHistory(), +)
    self.init(count: Int(use.count), lastUsedAt: use.count > 0 ? use.lastUsedAt.sinceEpoch : nil)
  }
}

extension EntryRow.State {
  fileprivate init(_ state: EntryState) {
    switch state {
    case .fresh: self = .fresh
    case .stale: self = .stale
    case .expired: self = .expired
    }
  }
}
