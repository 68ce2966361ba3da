public import FetchVocabulary
public import StorageSPI

extension StoreAdministration {
  /// Passes the first `limit` (1 or more) selected entries after `cursor` to `body`, sorted by key. It works in pages,
  /// so memory stays bounded for any limit. `body` also gets the time at which the page was read, which determines the
  /// states.
  ///
  /// - Returns: the key after which the listing continues; `nil` if it is complete.
  /// - Throws: `CacheError`: what `body` throws, or the engine failed.
  public func list(
    _ selection: EntrySelection, after cursor: CacheKey?, limit: Int,
    _ body: (_ page: [EntrySummary], _ readAt: Timestamp) async throws(CacheError) -> Void
  ) async throws(CacheError) -> CacheKey? {
    var (count, last, hasMore) = (0, CacheKey?.none, false)
    try await visit(selection, after: cursor) { page throws(CacheError) in
      let wanted = page.prefix(limit - count)
      hasMore = page.count > wanted.count
      if !wanted.isEmpty { try await body(Array(wanted), store.clock.now) }
      count += wanted.count
      last = wanted.last?.key ?? last
      return !hasMore
    }
    return hasMore ? last : nil
  }

  /// Lists the entries in one piece.
  ///
  /// - Throws: `CacheError`: the engine failed.
  public func list(
    _ selection: EntrySelection, after cursor: CacheKey?, limit: Int
  ) async throws(CacheError) -> EntryListing {
    var (entries, readAt) = ([EntrySummary](), store.clock.now)
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
  /// - Throws: `CacheError`: the engine failed, or the use of entries cannot be read.
  public func list(
    _ selection: EntrySelection, by order: EntryOrder, limit: Int
  ) async throws(CacheError) -> EntryListing {
    var first: [RankedEntry] = []
    try await visit(selection, after: nil) { page throws(CacheError) in
      let uses = order == .used ? try store.accesses.histories(of: page.map(\.key)) : []
      for (index, entry) in page.enumerated() {
        first.append(RankedEntry(entry, by: order, uses.isEmpty ? AccessHistory() : uses[index]))
      }
      if first.count / 2 >= limit { first.keepFirst(limit) }
      return true
    }
    first.keepFirst(limit)
    return EntryListing(entries: first.map(\.entry), cursor: nil, readAt: store.clock.now)
  }
}

/// A page of a store's entries, and where to continue.
public struct EntryListing: Sendable {
  /// The entries, sorted by key.
  public let entries: [EntrySummary]
  /// The key after which the listing continues; `nil` if it is complete.
  public let cursor: CacheKey?
  /// When the entries were read. Their states are those at this time.
  public let readAt: Timestamp
}

/// An entry with its payload.
public struct StoredEntry: Sendable {
  /// The key, the metadata before any transforms, and the size of what is stored.
  public let summary: EntrySummary
  /// The payload's bytes, before any transforms.
  public let payload: [UInt8]
  /// The transforms that it is stored with, in order, with spaces between them; `nil` if it is stored as it is.
  public let transforms: String?
  /// When the entry was read. Its state is that at this time.
  public let readAt: Timestamp

  package init(summary: EntrySummary, payload: [UInt8], transforms: String? = nil, readAt: Timestamp) {
    (self.summary, self.payload, self.readAt) = (summary, payload, readAt)
    self.transforms = transforms
  }
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
}

/// An entry with its rank in an order.
struct RankedEntry: Comparable {
  let entry: EntrySummary
  /// Entries with higher ranks come first.
  private let rank: Int64

  /// Ranks `entry` in `order`; the order of use needs `use`.
  init(_ entry: EntrySummary, by order: EntryOrder, _ use: AccessHistory) {
    rank =
      switch order {
      case .key: 0
      case .size: Int64(entry.payloadBytes)
      case .stored: entry.metadata.storedAt.milliseconds
      case .used: use.lastUsedAt.milliseconds
      }
    var metadata = entry.metadata
    metadata.attributes = [:]
    self.entry = EntrySummary(key: entry.key, metadata: metadata, payloadBytes: entry.payloadBytes)
  }

  static func < (left: RankedEntry, right: RankedEntry) -> Bool {
    left.rank == right.rank ? left.entry.key < right.entry.key : left.rank > right.rank
  }

  static func == (left: RankedEntry, right: RankedEntry) -> Bool {
    left.rank == right.rank && left.entry.key == right.entry.key
  }
}

extension [RankedEntry] {
  /// Sorts the entries, and removes all but the first `count`.
  fileprivate mutating func keepFirst(_ count: Int) {
    sort()
    removeLast(Swift.max(0, self.count - count))
  }
}
