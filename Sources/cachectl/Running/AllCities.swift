internal import CacheDomain

/// Walks every page of cities, and makes one page of them all.
struct AllCities {
  let useCase: FetchCitiesUseCase
  let order: CityOrder
  let direction: SortDirection?
  let options: FetchOptions

  /// All cities, or the first `limit`, as one snapshot: from the cache if every page was, and as old as the oldest page.
  ///
  /// - Throws: `CacheError`: a page could not be fetched.
  func collect(limit: Int?, progress: ProgressDisplay) async throws(CacheError) -> Snapshot<CitiesPage> {
    var merged = try await page(0)
    var cities = merged.value.cities
    progress.update(done: 1, total: merged.value.totalPages)
    for number in 1..<max(merged.value.totalPages, 1) {
      if let limit, cities.count >= limit { break }
      let next = try await page(number)
      cities += next.value.cities
      merged.absorb(next)
      progress.update(done: number + 1, total: merged.value.totalPages)
    }
    progress.finish()
    merged.value = CitiesPage(
      page: 0, totalPages: merged.value.totalPages, totalItems: merged.value.totalItems, cities: cities)
    return merged
  }

  /// The last snapshot of a page: with two answers, the origin's.
  private func page(_ number: Int) async throws(CacheError) -> Snapshot<CitiesPage> {
    var last: Snapshot<CitiesPage>?
    let query = CitiesQuery(order: order, direction: direction, page: number)
    for try await snapshot in useCase.execute(query, options: options) { last = snapshot }
    guard let last else { throw CacheError(.invalidAnswer, "page \(number) has no answer") }
    return last
  }
}

extension Snapshot {
  /// Takes over what makes the whole no better than its worst part.
  fileprivate mutating func absorb(_ other: Snapshot) {
    if other.source == .origin { source = .origin }
    isRevalidated = isRevalidated && other.isRevalidated
    if other.entry.remainingFreshness < entry.remainingFreshness { entry = other.entry }
    warnings += other.warnings
  }
}
