internal import FetchVocabulary
internal import CachePresentation
internal import CacheCore
internal import EngineAPI

/// Presents the administration of a store as views.
struct StorePresenter: Sendable {
  let store: OpenStore
  let configuration: Configuration

  init(store: OpenStore, configuration: Configuration) {
    self.store = store
    self.configuration = configuration
  }

  /// The entry called `name`, a key or a URL, with its payload.
  ///
  /// - Throws: `CacheError`: `notFound` if there is none, `damaged` if it is not what was written, `invalidRequest` if
  ///   a URL has several.
  func entry(_ name: String) async throws(CacheError) -> (view: EntryView, payload: [UInt8]) {
    let name = try EntryName(name)
    let keys = try await self.keys(name) { !$0.metadata.isSignpost }
    guard keys.count < 2 else { throw name.ambiguity(keys) }
    guard let cacheKey = keys.first, let entry = try await store.administration.entry(cacheKey) else {
      throw Self.notFound(name.text)
    }
    let use = store.entries.isBounded ? try store.entries.uses.histories(of: [cacheKey]).first : nil
    return (EntryView(entry, use: use), entry.payload)
  }

  /// The error that the key or URL `name` has no entry.
  static func notFound(_ name: String) -> CacheError {
    CacheError(.notFound, "there is no entry \(name)", hint: "see which there are with: cachectl ls")
  }

  /// Removes the selected entries, or makes them stale; `dryRun` only counts them.
  ///
  /// - Throws: `CacheError`: the engine failed.
  func remove(
    _ selection: EntrySelection, softly isSoft: Bool, dryRun: Bool
  ) async throws(CacheError) -> RemovalView {
    let report = try await store.administration.change(isSoft ? .makeStale : .remove, selection, dryRun: dryRun)
    return RemovalView(backend: configuration.backend, report, isDryRun: dryRun, isSoft: isSoft)
  }

  /// Removes the entries called `names`, keys or URLs, or makes them stale; `dryRun` only looks for them. A URL stands
  /// for all its entries.
  ///
  /// - Throws: `CacheError`: a text is neither a key nor a URL, or the engine failed.
  func remove(names: [String], softly isSoft: Bool, dryRun: Bool) async throws(CacheError) -> RemovalView {
    var (keys, missing) = ([CacheKey](), [String]())
    for name in names {
      let name = try EntryName(name)
      // It may be fetched for the first time now.
      if !dryRun, case .url(let url, let unresolved) = name {
        for url in Set([url, unresolved]) { try await store.administration.endRequests(for: url) }
      }
      let named = try await self.keys(name)
      if named.isEmpty { missing.append(name.text) }
      keys += named
    }
    let report = try await store.administration.change(isSoft ? .makeStale : .remove, keys: keys, dryRun: dryRun)
    return RemovalView(
      backend: configuration.backend, report, missing: missing, isDryRun: dryRun, isSoft: isSoft)
  }

  /// The key `name`, or the keys of all entries for the URL `name` that `isWanted` selects.
  private func keys(
    _ name: EntryName, where isWanted: (ScannedEntry) -> Bool = { _ in true }
  ) async throws(CacheError) -> [CacheKey] {
    switch name {
    case .key(let key): return [key]
    case .url(let url, let unresolved):
      var keys: [CacheKey] = []
      for prefix in Set([url, unresolved].map(URLResponses.keyPrefix(of:))).sorted() {
        let listing = try await store.administration.list(EntrySelection(prefix: prefix), after: nil, limit: .max)
        keys += listing.entries.filter(isWanted).map(\.key)
      }
      return keys
    }
  }

  /// How much the store contains, and how often it answers.
  ///
  /// - Parameter countsStates: whether to count fresh, stale and expired entries; `nil` if only in a store of which it takes
  ///   no noticeable time.
  /// - Throws: `CacheError`: the engine failed.
  func statistics(countingStates countsStates: Bool? = nil) async throws(CacheError) -> StatisticsView {
    StatisticsView(
      backend: configuration.backend, path: configuration.storePath, address: configuration.storeAddress,
      try await store.administration.statistics(countingStates: countsStates))
  }

  /// Checks every entry of the store.
  ///
  /// - Parameter progress: called now and then with the number of entries checked, and of all (`nil` if it is
  ///   unknown).
  /// - Throws: `CacheError`: the check could not be made.
  func verify(progress: (_ done: Int, _ total: Int?) -> Void) async throws(CacheError) -> IntegrityView {
    let report = try await store.administration.verify(progress: progress)
    return IntegrityView(
      backend: configuration.backend, entriesChecked: report.entriesChecked, issues: report.issues,
      issueCount: report.issueCount, unauthenticated: report.unauthenticated)
  }

  /// Removes expired entries, and returns unused space to the system.
  ///
  /// - Throws: `CacheError`: the engine failed.
  func compact() async throws(CacheError) -> CompactionView {
    CompactionView(backend: configuration.backend, report: try await store.administration.compact())
  }
}

extension AppDIContainer {
  /// The presenter for the administration of `store`.
  func makeStorePresenter(_ store: OpenStore) -> StorePresenter {
    StorePresenter(store: store, configuration: configuration)
  }
}
