/// A summary of many pages: how many there are, their sources, and the failures.
public struct PagesSummary: Sendable {
  /// The number of pages, according to the newest response.
  public internal(set) var totalPages: Int
  /// The number of items on all pages, according to the newest response.
  public internal(set) var totalItems: Int
  /// The number of received pages, in any order, that are in the cache as far as is known. Others might not be stored,
  /// or could not be.
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
  /// Failures that did not prevent a response, the first of each kind.
  public private(set) var warnings: [CacheWarning] = []
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

  private mutating func note(_ warning: CacheWarning) {
    if warningCounts[warning.error.code] == nil { warnings.append(warning) }
    warningCounts[warning.error.code, default: 0] += 1
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

/// The state of a walk over pages: which page to request next, and which responses are waiting for their turn.
///
/// Pages can arrive in any order and are delivered in order. At most `width` requests run at once, and at most twice as
/// many pages are requested or waiting, so memory is bounded, however slow one page is.
struct PageWalk {
  private let width: Int
  private let limit: Int?
  private var known: PagesSummary?
  private var waiting: [Int: Snapshot<CitiesPage>] = [:]
  private var nextPage = 0
  private var pagesUnderWay = 0
  private var nextTurn = 0
  private var itemCount = 0
  private var pageSize = 1
  private var newest = Duration.zero
  private var originFailure: CacheError?
  private var failure: (page: Int, error: CacheError)?

  /// Creates a walk that ends once `limit` items have been delivered; without a limit, at the last page.
  init(width: Int, limit: Int?) {
    self.width = max(width, 1)
    self.limit = limit
  }

  /// Whether the origin has failed, so that the remaining pages come from the cache only.
  var isOffline: Bool { originFailure != nil }

  /// The page to request now; `nil` if the walk must wait for a response, or needs no more pages.
  mutating func start() -> Int? {
    guard failure == nil, pagesUnderWay < width, nextPage < nextTurn + 2 * width, isWanted(nextPage) else { return nil }
    defer { nextPage += 1 }
    pagesUnderWay += 1
    return nextPage
  }

  /// A summary of the pages so far; `nil` until the first has arrived. A failure counts only if its page is missing:
  /// the walk might have turned out to end before it.
  var summary: PagesSummary? {
    guard var summary = known else { return nil }
    if let failure, failure.page < summary.totalPages, !isLimitReached { summary.failure = failure.error }
    return summary
  }

  /// Why there is no summary.
  var firstError: CacheError { failure?.error ?? .cancelled }

  private var isLimitReached: Bool { limit.map { itemCount >= $0 } ?? false }

  /// Whether the walk will reach `page`, as far as is known. Only the first page tells how many there are.
  private func isWanted(_ page: Int) -> Bool {
    guard let known else { return page == 0 }
    guard page < known.totalPages else { return false }
    let expected = itemCount + (page - nextTurn) * pageSize
    return limit.map { expected < $0 } ?? true
  }

  /// Accepts the response for a requested page.
  mutating func receive(_ answer: Result<Snapshot<CitiesPage>, CacheError>, for page: Int) {
    pagesUnderWay -= 1
    switch answer {
    case .success(let snapshot): receive(snapshot, for: page)
    case .failure(let error): fail(error, page)
    }
  }

  /// The next page in order; `nil` if its response has not arrived.
  mutating func takeNext() -> Snapshot<CitiesPage>? {
    // Deliver the first page even if it is empty.
    guard nextTurn < max(known?.totalPages ?? 1, 1), let page = waiting.removeValue(forKey: nextTurn) else {
      return nil
    }
    nextTurn += 1
    itemCount += page.value.cities.count
    known?.add(page)
    return page
  }

  private mutating func receive(_ snapshot: Snapshot<CitiesPage>, for page: Int) {
    if known == nil { pageSize = max(snapshot.value.cities.count, 1) }
    var summary = known ?? PagesSummary(announcedBy: snapshot)
    // An entry of unknown age counts as older than any other.
    let storedAt = snapshot.entry.age == nil ? .zero : snapshot.entry.storedSinceEpoch
    if storedAt >= newest {
      newest = storedAt
      Self.update(&summary, by: snapshot.value, of: page)
    }
    let failures = snapshot.warnings.filter { $0.phase == .fetching }
    if snapshot.entry.isStored, failures.count == snapshot.warnings.count { summary.keptPages += 1 }
    originFailure = originFailure ?? failures.first?.error
    known = summary
    waiting[page] = snapshot
  }

  /// The number of pages can change during the walk. A page beyond the last is empty, and some origins then report that
  /// there are no pages at all. A page with cities exists, whatever an origin reports.
  private static func update(_ summary: inout PagesSummary, by answer: CitiesPage, of page: Int) {
    if answer.cities.isEmpty, answer.totalPages <= page {
      summary.totalPages = min(summary.totalPages, answer.totalPages > 0 ? answer.totalPages : page)
      if answer.totalPages > 0 { summary.totalItems = answer.totalItems }
    } else {
      summary.totalPages = max(answer.totalPages, page + 1)
      summary.totalItems = answer.totalItems
    }
  }

  /// The first failure ends the walk. If the cache does not have a page, the origin's failure is the reason why it is
  /// missing.
  private mutating func fail(_ error: CacheError, _ page: Int) {
    guard failure == nil else { return }
    failure = (page, error.code == .notCached ? originFailure ?? error : error)
  }
}
