import CacheData
import CacheDomain

/// The outcome of a fetch, as far as the table covers it.
struct FetchOutcome: Equatable, Sendable {
  struct Item: Equatable, Sendable {
    var value: Int
    var source: Snapshot<CitiesPage>.Source
    var isRevalidated = false
    var isStale = false
    var warnings: [CacheError.Code] = []
  }

  var items: [Item] = []
  var error: CacheError.Code?
  var calls: [Call] = []

  /// The outcome of iterating over `snapshots` to the end.
  init(_ snapshots: Snapshots<CitiesPage>, log: CallLog) async {
    do throws(CacheError) {
      var iterator = snapshots.makeAsyncIterator()
      while let snapshot = try await iterator.next() {
        items.append(
          Item(
            value: snapshot.value.totalItems, source: snapshot.source, isRevalidated: snapshot.isRevalidated,
            isStale: snapshot.entry.isStale, warnings: snapshot.warnings.map(\.code)))
      }
    } catch {
      self.error = error.code
    }
    calls = log.all
  }

  /// The outcome that the documentation promises for `row`, derived from its words rather than from the code.
  init(expectedOf row: FetchCase) {
    if row.policy == .networkOnly {
      ask(row, found: nil)
      return
    }
    calls = [.read]
    let found = row.readError == nil ? row.storedResponse : nil
    if let code = row.readError?.code, row.policy == .cacheOnly || code == .cancelled {
      error = code
    } else if row.policy == .cacheOnly {
      if found != nil, row.stored != .pastMaxStale { items = [Self.cached(row)] } else { error = .notCached }
    } else if row.policy == .cacheFirst, found != nil, Self.satisfies(row.stored) {
      items = [Self.cached(row)]
    } else {
      if row.policy == .cachedThenNetwork, found != nil, row.stored != .pastMaxStale { items = [Self.cached(row)] }
      ask(row, found: found)
    }
  }

  private static func satisfies(_ stored: FetchCase.Stored) -> Bool {
    switch stored {
    case .fresh, .withinMaxStale, .atMaxStale, .tooOldWithinMaxStale: true
    case .none, .tooOld, .stale, .pastMaxStale, .pastStaleIfError: false
    }
  }

  private static func cached(_ row: FetchCase) -> Item {
    Item(value: 1, source: .cache, isStale: ![.fresh, .tooOld, .tooOldWithinMaxStale].contains(row.stored))
  }

  private mutating func ask(_ row: FetchCase, found: StoredResponse<CitiesPageDTO>?) {
    // The leader looks again: another fetch may have finished meanwhile.
    if row.policy != .networkOnly { calls.append(.read) }
    calls.append(.ask(validator: found?.head.head.fields["etag"]))
    let warnings = row.policy == .networkOnly ? [] : [row.readError?.code].compactMap(\.self)
    switch (row.answer, found) {
    case (.modified, _):
      write(Item(value: 2, source: .origin, warnings: warnings), validator: "v2", row)
    case (.notModified, .some):
      write(Item(value: 1, source: .cache, isRevalidated: true, warnings: warnings), validator: "v1", row)
    case (.notModified, nil):
      error = .invalidAnswer
    case (.unreachable, .some), (.invalid, .some):
      standIn(row)
    case (.unreachable, nil), (.invalid, nil), (.refused, _), (.notFound, _), (.badRequest, _), (.cancelled, _):
      // The origin has nothing any more, so the cache must not show it either.
      if row.answer == .notFound { calls.append(.remove) }
      error = row.originError?.code
    }
  }

  private mutating func write(_ item: Item, validator: String, _ row: FetchCase) {
    calls.append(.write(value: item.value, validator: validator))
    if row.writeError?.code == .cancelled {
      error = .cancelled
      return
    }
    var item = item
    item.warnings += [row.writeError?.code].compactMap(\.self)
    // The answer that cannot be stored has replaced the entry all the same.
    if row.writeError != nil, row.answer == .modified { calls.append(.remove) }
    items.append(item)
  }

  private mutating func standIn(_ row: FetchCase) {
    guard row.stored != .pastStaleIfError, row.stored != .pastMaxStale else {
      error = row.originError?.code
      return
    }
    var item = Self.cached(row)
    item.warnings = [row.originError?.code].compactMap(\.self)
    items.append(item)
  }
}
