internal import CacheComposition
internal import CacheData
internal import CacheDomain
internal import ResponseStorage
internal import SampleOrigin
internal import StorageBenchmark
internal import StorageSPI

/// Pages of cities from the bundled sample, for the workloads that fetch through the cache. A run that needs more pages
/// than there are gets the same cities again, under other page numbers.
struct CityPages: Sendable {
  private static let sorts = CityOrder.allCases.flatMap { order in
    SortDirection.allCases.map { (order: order, direction: $0) }
  }

  /// All pages that have cities, indexed by the numbers of their queries.
  private let pages: [CitiesPage]
  private let origin: BenchmarkCityOrigin
  private let now: Timestamp

  /// Loads all pages of the sample.
  ///
  /// - Parameters:
  ///   - share: the number of this process: each process has its own keys.
  ///   - now: the time of the run.
  static func load(share: Int, now: Timestamp) async throws(CacheError) -> CityPages {
    let sample = SampleCityOrigin()
    var pages: [CitiesPage] = []
    while true {
      let request = CitiesRequestDTO(origin: sample.name, query: query(pages.count))
      guard let page = try await sample.answer(to: request, conditions: [:]).response?.toDomain(), !page.cities.isEmpty
      else { break }
      pages.append(page)
    }
    let origin = BenchmarkCityOrigin(share: share, pageCount: pages.count / sorts.count)
    return CityPages(pages: pages, origin: origin, now: now)
  }

  /// The query number `number`: the first page in every order, then the second, and so on.
  static func query(_ number: Int) -> CitiesQuery {
    let sort = sorts[number % sorts.count]
    return CitiesQuery(order: sort.order, direction: sort.direction, page: number / sorts.count)
  }

  /// Whether `page` is the answer to the query number `number`.
  func isAnswer(_ page: CitiesPage, to number: Int) -> Bool {
    page.page == Self.query(number).page && page.cities == pages[number % pages.count].cities
  }

  /// Makes a fetcher with the use case, repository and storage of `fetch cities`, over `engine`. The store is bounded
  /// and keeps its tallies, but never reaches the bounds, and the clock stands still.
  func fetcher(over engine: any StorageEngine) -> any BenchmarkFetcher {
    let limits = StoreLimits(maxEntries: 1 << 40, maxBytes: 1 << 50, eviction: .leastRecentlyUsed)
    let store = EntryStore(engine: engine, clock: FixedClock(now: now), limits: limits)
    let freshness = FreshnessPolicy(
      timeToLive: .seconds(3_600), staleIfError: .seconds(86_400), staleWhileRevalidate: .zero)
    let services = FetchServices(
      rules: HTTPCacheRules(isShared: false, freshness: freshness), now: { [now] in now.sinceEpoch })
    let repository = DefaultCityRepository(
      storage: EngineCityResponseStorage(store: store), origin: origin, services: services)
    return CityFetcher(cities: FetchCitiesUseCase(repository: repository), pages: self)
  }
}

/// Fetches pages of cities as `fetch cities` does.
private struct CityFetcher: BenchmarkFetcher {
  let cities: FetchCitiesUseCase
  let pages: CityPages

  func fetch(_ number: Int, isStored: Bool) async throws(CacheError) -> BenchmarkAnswer {
    var snapshots = cities.execute(CityPages.query(number)).makeAsyncIterator()
    guard let snapshot = try await snapshots.next() else { return .wrong }
    // A fetch goes on without a store that fails, and warns of it; here that failure is an error.
    if let warning = snapshot.warnings.first { throw warning }
    guard snapshot.source == (isStored ? .cache : .origin), pages.isAnswer(snapshot.value, to: number) else {
      return .wrong
    }
    return isStored ? .hit : .miss
  }
}

/// The sample, which starts over after its last page. Its name is unique to one process of a run, because the name is
/// part of the keys.
private struct BenchmarkCityOrigin: CityOrigin {
  private let sample = SampleCityOrigin()
  private let pageCount: Int
  let name: String
  let isInProcess = true

  init(share: Int, pageCount: Int) {
    name = share == 0 ? sample.name : "\(sample.name)-\(share)"
    self.pageCount = pageCount
  }

  func answer(
    to request: CitiesRequestDTO, conditions: HTTPFields
  ) async throws(CacheError) -> OriginAnswer<CitiesPageDTO> {
    let query = request.query
    guard query.page >= pageCount else { return try await sample.answer(to: request, conditions: conditions) }
    let repeated = CitiesQuery(order: query.order, direction: query.direction, page: query.page % pageCount)
    let answer = try await sample.answer(
      to: CitiesRequestDTO(origin: request.origin, query: repeated), conditions: conditions)
    let page = answer.response?.toDomain()
    return OriginAnswer(
      head: answer.head,
      response: page.map { page in
        CitiesPageDTO(
          CitiesPage(page: query.page, totalPages: page.totalPages, totalItems: page.totalItems, cities: page.cities))
      })
  }
}
