public import CacheDomain
public import CachePresentation
internal import ResponseStorage
internal import StorageSPI

/// What the administration of a store shows, as views.
public struct StorePresenter: Sendable {
  let store: OpenStore
  let configuration: Configuration

  init(store: OpenStore, configuration: Configuration) {
    self.store = store
    self.configuration = configuration
  }

  /// Gives the first `limit` (1 or more) selected entries after the key `cursor` to `body`, a page at a time, each with
  /// the time since 1970-01-01T00:00:00Z at which it was read.
  ///
  /// - Returns: the key after which there are more; `nil` where there are none.
  /// - Throws: `CacheError`: the cursor is no key, what `body` throws, or the engine failed.
  public func entries(
    _ conditions: EntryConditions, after cursor: String?, limit: Int,
    _ body: (_ page: [EntryRow], _ readAt: Duration) throws(CacheError) -> Void
  ) async throws(CacheError) -> String? {
    let cursor: CacheKey? = if let cursor { try CacheKey(argument: cursor) } else { nil }
    let next = try await store.administration.list(conditions.selection, after: cursor, limit: limit) {
      page, readAt throws(CacheError) in
      try body(page.map { EntryRow($0, at: readAt) }, readAt.sinceEpoch)
    }
    return next?.text
  }

  /// The entry under `key` with its payload.
  ///
  /// - Throws: `CacheError`: `notFound` where there is none, `damaged` where it is not what was written.
  public func entry(_ key: String) async throws(CacheError) -> (view: EntryView, payload: [UInt8]) {
    let cacheKey = try CacheKey(argument: key)
    guard let entry = try await store.administration.entry(cacheKey) else {
      throw CacheError(.notFound, "there is no entry \(key)", hint: "see which there are with: cachectl ls")
    }
    let view = EntryView(
      EntryRow(entry.summary, at: entry.readAt), use: EntryView.Use(try store.entries.uses.uses(of: [cacheKey])),
      attributes: entry.summary.metadata.attributes,
      payload: entry.payload, now: entry.readAt.sinceEpoch)
    return (view, entry.payload)
  }

  /// Removes the selected entries; with `dryRun` only counts them.
  ///
  /// - Throws: `CacheError`: the engine failed.
  public func remove(_ conditions: EntryConditions, dryRun: Bool) async throws(CacheError) -> RemovalView {
    view(of: try await store.administration.remove(conditions.selection, dryRun: dryRun), dryRun)
  }

  /// Removes the entries under `keys`; with `dryRun` only looks for them.
  ///
  /// - Throws: `CacheError`: a text is no key, or the engine failed.
  public func remove(keys: [String], dryRun: Bool) async throws(CacheError) -> RemovalView {
    var parsed: [CacheKey] = []
    for key in keys { parsed.append(try CacheKey(argument: key)) }
    return view(of: try await store.administration.remove(keys: parsed, dryRun: dryRun), dryRun)
  }

  /// How much the store holds, and how well it serves.
  ///
  /// - Throws: `CacheError`: the engine failed.
  public func statistics() async throws(CacheError) -> StatisticsView {
    let report = try await store.administration.statistics()
    var view = StatisticsView(backend: configuration.backend, path: configuration.storePath)
    view.namespaces = report.statistics.namespaces.map {
      StatisticsView.Namespace(name: $0.name, entries: $0.entries, payloadBytes: $0.payloadBytes)
    }
    view.storageBytes = report.statistics.storageBytes
    (view.fresh, view.stale, view.expired) = (report.count(.fresh), report.count(.stale), report.count(.expired))
    view.isEstimated = report.isEstimated
    (view.hits, view.misses) = (report.usage.hits, report.usage.misses)
    view.evictions = report.usage.evictions
    return view
  }

  private func view(of report: RemovalReport, _ dryRun: Bool) -> RemovalView {
    RemovalView(
      backend: configuration.backend, removed: report.entries, bytes: report.payloadBytes,
      missing: report.missing.map(\.text), isDryRun: dryRun)
  }
}

extension AppDIContainer {
  /// What the administration of `store` shows.
  public func makeStorePresenter(_ store: OpenStore) -> StorePresenter {
    StorePresenter(store: store, configuration: configuration)
  }
}

extension Configuration {
  /// Where the store of the configured engine is; `nil` where it has no path.
  public var storePath: String? {
    guard case .text(let path)? = options(of: backend)["path"] else { return nil }
    return path
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
  fileprivate init(_ uses: [EntryUse]) {
    let use = uses.reduce(EntryUse(), +)
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

extension CacheKey {
  /// The key that somebody typed.
  fileprivate init(argument: String) throws(CacheError) {
    do throws(StorageError) { try self.init(argument) } catch { throw CacheError(error) }
  }
}
