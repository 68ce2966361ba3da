/// Where a walk over pages stands: which page is asked for next, and which answers are waiting for their turn.
///
/// Pages are asked for out of step with each other and handed on in order. At most `width` are asked for at once, and
/// at most twice as many are asked for or waiting: memory is bounded, however slow one of them is.
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

  /// A walk that ends where `limit` items were handed on; at the last page without a limit.
  init(width: Int, limit: Int?) {
    self.width = max(width, 1)
    self.limit = limit
  }

  /// Whether pages are to be taken from the cache only, because the origin has failed: it is left alone.
  var isOffline: Bool { originFailure != nil }

  /// The page to ask for now; `nil` where an answer has to be waited for, or none is missing.
  mutating func start() -> Int? {
    guard failure == nil, pagesUnderWay < width, nextPage < nextTurn + 2 * width, isWanted(nextPage) else { return nil }
    defer { nextPage += 1 }
    pagesUnderWay += 1
    return nextPage
  }

  /// What is known of the pages so far; `nil` before the first is answered. A failure counts only where its page is
  /// missing: the walk may have turned out to end before it.
  var summary: PagesSummary? {
    guard var summary = known else { return nil }
    if let failure, failure.page < summary.totalPages, !isLimitReached { summary.failure = failure.error }
    return summary
  }

  /// Why there is no summary.
  var firstError: CacheError { failure?.error ?? .cancelled }

  private var isLimitReached: Bool { limit.map { itemCount >= $0 } ?? false }

  /// Whether the walk gets as far as `page`, as far as that is known. Only the first page tells how many there are.
  private func isWanted(_ page: Int) -> Bool {
    guard let known else { return page == 0 }
    guard page < known.totalPages else { return false }
    let expected = itemCount + (page - nextTurn) * pageSize
    return limit.map { expected < $0 } ?? true
  }

  /// Takes the answer to a page that was asked for.
  mutating func receive(_ answer: Result<Snapshot<CitiesPage>, CacheError>, for page: Int) {
    pagesUnderWay -= 1
    switch answer {
    case .success(let snapshot): receive(snapshot, for: page)
    case .failure(let error): fail(error, page)
    }
  }

  /// The next page in order; `nil` where its answer is not there yet.
  mutating func takeNext() -> Snapshot<CitiesPage>? {
    // The first page is handed on even where there is nothing on it.
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
    // An entry of unknown age is no newer than any other.
    let storedAt = snapshot.entry.age == nil ? .zero : snapshot.entry.storedAt
    if storedAt >= newest {
      newest = storedAt
      Self.update(&summary, by: snapshot.value, of: page)
    }
    let failures = snapshot.warnings.filter(\.mayBeStoodInFor)
    if snapshot.entry.isStored, failures.count == snapshot.warnings.count { summary.keptPages += 1 }
    originFailure = originFailure ?? failures.first
    known = summary
    waiting[page] = snapshot
  }

  /// The number of pages may change on the way. A page beyond the last is empty, and some origins then say that there
  /// are no pages at all; a page with something on it exists, whatever is said.
  private static func update(_ summary: inout PagesSummary, by answer: CitiesPage, of page: Int) {
    if answer.cities.isEmpty, answer.totalPages <= page {
      summary.totalPages = min(summary.totalPages, answer.totalPages > 0 ? answer.totalPages : page)
      if answer.totalPages > 0 { summary.totalItems = answer.totalItems }
    } else {
      summary.totalPages = max(answer.totalPages, page + 1)
      summary.totalItems = answer.totalItems
    }
  }

  /// The first failure ends the walk. What the cache alone does not have is missing because of the origin.
  private mutating func fail(_ error: CacheError, _ page: Int) {
    guard failure == nil else { return }
    failure = (page, error.code == .notCached ? originFailure ?? error : error)
  }
}
