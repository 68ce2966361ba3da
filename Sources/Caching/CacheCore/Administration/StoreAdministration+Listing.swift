public import FetchVocabulary
public import EngineAPI

extension StoreAdministration {
  /// Passes the first `limit` (1 or more) selected entries after `cursor` to `body`, in the order of the engine, which is
  /// that of their keys if it is `ordered`. It works in pages, so memory stays bounded for any limit. `body` also gets the
  /// time at which the page was read, which determines the states.
  ///
  /// - Returns: the position after which the listing continues; `nil` if it is complete.
  /// - Throws: `CacheError`: what `body` throws, or the engine failed.
  public func list(
    _ selection: EntrySelection, after cursor: String?, limit: Int,
    _ body: (_ page: [ScannedEntry], _ readAt: Timestamp) async throws(CacheError) -> Void
  ) async throws(CacheError) -> String? {
    var walk = StoreWalk(store, selection.request(after: cursor))
    var left = limit
    var end: String?
    while let page = try await walk.next() {
      var entries = selected(of: page, by: selection)
      if entries.isEmpty { continue }
      if left == 0 { return end }
      let hasMore = entries.count > left
      if hasMore {
        // The page again, but only to the last entry that is wanted: only the engine knows the position after it.
        let last = entries[left - 1].key
        var request = selection.request(after: walk.start)
        request?.limit = (page.firstIndex { $0.key == last } ?? 0) + 1
        var part = StoreWalk(store, request)
        entries = selected(of: try await part.next() ?? [], by: selection)
        end = part.position
      }
      if !entries.isEmpty { try await body(entries, store.clock.now) }
      if hasMore { return end }
      left -= entries.count
      end = walk.position
    }
    return nil
  }

  /// Lists the entries in one piece.
  ///
  /// - Throws: `CacheError`: the engine failed.
  public func list(
    _ selection: EntrySelection, after cursor: String?, limit: Int
  ) async throws(CacheError) -> EntryListing {
    var entries: [ScannedEntry] = []
    var readAt = store.clock.now
    let cursor = try await list(selection, after: cursor, limit: limit) { page, time in
      entries += page
      readAt = time
    }
    return EntryListing(entries: entries, cursor: cursor, readAt: readAt)
  }

  /// Lists the first `limit` (1 or more) selected entries in `order`, without their attributes.
  ///
  /// Cost: a pass over all selected entries. Memory grows with the number of entries listed, by some hundred bytes
  /// each, but not with the others.
  ///
  /// - Throws: `CacheError`: the engine failed, or the use of entries cannot be read; `invalidRequest` if it is not recorded,
  ///   because the engine is not `bounded`.
  public func list(
    _ selection: EntrySelection, by order: EntryOrder, limit: Int
  ) async throws(CacheError) -> EntryListing {
    if order == .used, !store.isBounded {
      throw CacheError(
        .invalidRequest, "the uses of entries are not recorded: the store evicts by itself",
        hint: "sort by key, size or stored")
    }
    var first: [(rank: Int64, entry: ScannedEntry)] = []
    func keepFirst() {
      first.sort { $0.rank == $1.rank ? $0.entry.key < $1.entry.key : $0.rank > $1.rank }
      // An engine that is not `ordered` may list an entry twice.
      var last: CacheKey?
      first.removeAll { ranked in
        defer { last = ranked.entry.key }
        return ranked.entry.key == last
      }
      first.removeLast(max(0, first.count - limit))
    }
    try await visit(selection) { page throws(CacheError) in
      let uses = order == .used ? try store.uses.histories(of: page.map(\.key)) : []
      for (index, entry) in page.enumerated() {
        let rank = order.rank(of: entry, uses.isEmpty ? AccessHistory() : uses[index])
        var metadata = entry.metadata
        metadata.attributes = [:]
        first.append((rank, ScannedEntry(key: entry.key, metadata: metadata, payloadBytes: entry.payloadBytes)))
      }
      if first.count / 2 >= limit { keepFirst() }
    }
    keepFirst()
    return EntryListing(entries: first.map(\.entry), cursor: nil, readAt: store.clock.now)
  }
}

/// A page of a store's entries, and where to continue.
public struct EntryListing: Sendable {
  /// The entries.
  public let entries: [ScannedEntry]
  /// The position after which the listing continues; `nil` if it is complete.
  public let cursor: String?
  /// When the entries were read. Their states are those at this time.
  public let readAt: Timestamp
}

/// An order in which entries are listed; ties are broken by key.
public enum EntryOrder: String, Sendable, CaseIterable {
  /// By key.
  case key
  /// The largest payload first.
  case size
  /// Stored or confirmed most recently first.
  case stored
  /// Used most recently first; unused entries come last.
  case used

  /// Entries with higher ranks come first.
  fileprivate func rank(of entry: ScannedEntry, _ use: AccessHistory) -> Int64 {
    switch self {
    case .key: 0
    case .size: Int64(entry.payloadBytes)
    case .stored: entry.metadata.storedAt.milliseconds
    case .used: use.lastUsedAt.milliseconds
    }
  }
}
