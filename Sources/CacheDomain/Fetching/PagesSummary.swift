/// What is known of a number of pages together: how many there are, where they came from, and what went wrong.
public struct PagesSummary: Sendable {
  /// How many pages there are, by the newest answer.
  public internal(set) var totalPages: Int
  /// How many items there are on all pages, by the newest answer.
  public internal(set) var totalItems: Int
  /// How many pages were answered, in whatever order, and are in the cache as far as is known: some are not to be
  /// stored, or could not be.
  public internal(set) var keptPages = 0
  /// How many pages came from the cache without the origin being asked.
  public private(set) var cachedPages = 0
  /// How many pages came from the cache and were confirmed by the origin.
  public private(set) var confirmedPages = 0
  /// How many pages came from the origin.
  public private(set) var fetchedPages = 0
  /// How many cities are on the pages that were handed on.
  public private(set) var cityCount = 0
  /// The page that makes the whole no better than it is: the cached one that is fresh for the shortest time, or where
  /// none is cached the one of them all.
  public private(set) var worst: Snapshot<CitiesPage>
  /// Failures that did not keep a page from being answered, the first of each kind.
  public private(set) var warnings: [CacheError] = []
  /// How many failures there were of each kind of `warnings`.
  public private(set) var warningCounts: [CacheError.Code: Int] = [:]
  /// Why the pages that are missing are missing; `nil` where none is.
  public internal(set) var failure: CacheError?

  /// The summary of no page yet, of the many that `first` says there are.
  init(announcedBy first: Snapshot<CitiesPage>) {
    totalPages = first.value.totalPages
    totalItems = first.value.totalItems
    worst = first
  }

  /// How many pages were handed on, from the first one on.
  public var donePages: Int { cachedPages + confirmedPages + fetchedPages }

  /// `cities` as one page of all, from the cache if every page was, and as old as the oldest page.
  public func snapshot(of cities: [City]) -> Snapshot<CitiesPage> {
    let page = CitiesPage(page: 0, totalPages: totalPages, totalItems: totalItems, cities: cities)
    let isFromOrigin = fetchedPages > 0 && !worst.isStale
    return Snapshot(
      value: page, source: isFromOrigin ? .origin : .cache,
      isRevalidated: confirmedPages > 0 && confirmedPages == donePages, entry: worst.entry, warnings: warnings)
  }

  /// Counts a page that was handed on.
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

  /// Whether the value is a stale one that nobody has confirmed.
  fileprivate var isStale: Bool { provenance == .cached && entry.isStale }

  fileprivate func isWorse(than other: Snapshot) -> Bool {
    let (isCached, otherIsCached) = (provenance == .cached, other.provenance == .cached)
    if isCached != otherIsCached { return isCached }
    return entry.remainingFreshness < other.entry.remainingFreshness
  }
}
