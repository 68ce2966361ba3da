/// A summary of many pages: how many there are, where they came from, and what went wrong.
public struct PagesSummary: Sendable {
  /// The number of pages, according to the newest answer.
  public internal(set) var totalPages: Int
  /// The number of items on all pages, according to the newest answer.
  public internal(set) var totalItems: Int
  /// The number of answered pages, in any order, that are in the cache as far as is known. Others may not be stored, or
  /// could not be.
  public internal(set) var keptPages = 0
  /// The number of pages from the cache that the origin was not asked about.
  public private(set) var cachedPages = 0
  /// The number of pages from the cache that the origin confirmed.
  public private(set) var confirmedPages = 0
  /// The number of pages from the origin.
  public private(set) var fetchedPages = 0
  /// The number of cities on the delivered pages.
  public private(set) var cityCount = 0
  /// The page that determines the freshness of the whole: the cached one that becomes stale first, or, if none is
  /// cached, the one of all pages that does.
  public private(set) var worst: Snapshot<CitiesPage>
  /// Failures that did not prevent an answer, the first of each kind.
  public private(set) var warnings: [CacheError] = []
  /// The number of failures of each kind in `warnings`.
  public private(set) var warningCounts: [CacheError.Code: Int] = [:]
  /// Why pages are missing; `nil` if none is.
  public internal(set) var failure: CacheError?

  /// Creates a summary of no pages yet, with the totals that `first` gives.
  init(announcedBy first: Snapshot<CitiesPage>) {
    totalPages = first.value.totalPages
    totalItems = first.value.totalItems
    worst = first
  }

  /// The number of pages delivered so far.
  public var donePages: Int { cachedPages + confirmedPages + fetchedPages }

  /// Combines `cities` into one page: from the cache if every page was, and as old as the oldest page.
  public func snapshot(of cities: [City]) -> Snapshot<CitiesPage> {
    let page = CitiesPage(page: 0, totalPages: totalPages, totalItems: totalItems, cities: cities)
    let isFromOrigin = fetchedPages > 0 && !worst.isStale
    return Snapshot(
      value: page, source: isFromOrigin ? .origin : .cache,
      isRevalidated: confirmedPages > 0 && confirmedPages == donePages, entry: worst.entry, warnings: warnings)
  }

  /// Counts a delivered page.
  mutating func add(_ page: Snapshot<CitiesPage>) {
    switch page.provenance {
    case .cached: cachedPages += 1
    case .confirmed: confirmedPages += 1
    case .fetched: fetchedPages += 1
    }
    cityCount += page.value.cities.count
    if page.isWorse(than: worst) { worst = page }
    for warning in page.warnings { note(warning) }
  }

  private mutating func note(_ warning: CacheError) {
    if warningCounts[warning.code] == nil { warnings.append(warning) }
    warningCounts[warning.code, default: 0] += 1
  }
}

extension Snapshot {
  fileprivate enum Provenance {
    case cached
    case confirmed
    case fetched
  }

  fileprivate var provenance: Provenance {
    source == .origin ? .fetched : isRevalidated ? .confirmed : .cached
  }

  /// Whether the value is stale and unconfirmed.
  fileprivate var isStale: Bool { provenance == .cached && entry.isStale }

  fileprivate func isWorse(than other: Snapshot) -> Bool {
    let (isCached, otherIsCached) = (provenance == .cached, other.provenance == .cached)
    if isCached != otherIsCached { return isCached }
    return entry.remainingFreshness < other.entry.remainingFreshness
  }
}
