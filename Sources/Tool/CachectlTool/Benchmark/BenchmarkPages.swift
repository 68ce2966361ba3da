internal import CacheData
internal import CacheDomain
internal import CacheCore
internal import SampleOrigin
internal import EngineBenchmark
internal import EngineAPI
internal import Synchronization

/// Pages of 20 movies each from the bundled sample, for the workloads that decode what they read.
struct MoviePages: Sendable {
  /// The number of different pages: a prime, so that no regular choice of entries always meets the same pages.
  static let count = 61

  private let coding: MoviesPageCoding
  let pages: [MoviesPageDTO]
  private let payloads: [[UInt8]]

  /// Loads the pages from a search with enough results.
  static func load() async throws(CacheError) -> MoviePages {
    let origin = SampleMovieOrigin()
    var pages: [MoviesPageDTO] = []
    for page in 1...count {
      guard let query = MovieQuery("the") else { break }
      let request = MoviesRequestDTO(origin: origin.name, query: query, page: page)
      if let response = try await origin.answer(to: request, conditions: [:]).response { pages.append(response) }
    }
    return try MoviePages(pages)
  }

  private init(_ pages: [MoviesPageDTO]) throws(CacheError) {
    let coding = try MoviesPageCoding()
    var payloads: [[UInt8]] = []
    for page in pages { payloads.append(try coding.encode(page)) }
    self.coding = coding
    self.pages = pages
    self.payloads = payloads
  }

  /// The records of a benchmark: a read decodes the page as a cache hit does, and compares all of it.
  var payload: TypedPayload {
    TypedPayload(
      encode: { [payloads] number throws(CacheError) in payloads[number % payloads.count] },
      isRight: { [coding, pages] number, bytes throws(CacheError) in
        try coding.decode(bytes) == pages[number % pages.count]
      })
  }
}

extension MoviePages {
  /// Makes a reader that stores and reads the pages through the storage that a search uses, over the engine of `target`.
  /// The clock stands still.
  ///
  /// - Parameters:
  ///   - share: the number of this process: each process has its own keys.
  ///   - now: the time of the run.
  func reader(over target: BenchmarkStore, share: Int, now: Timestamp) -> any BenchmarkFetcher {
    let store = EntryStore(engine: target.engine, clock: FixedClock(now: now), capabilities: target.capabilities)
    return MoviesReader(
      storage: EngineMoviesResponseStorage(store: store), pages: pages, origin: "sample-\(share)", now: now.sinceEpoch)
  }
}

/// Reads pages of movies as a cache hit does: from the store, or already decoded.
private struct MoviesReader: BenchmarkFetcher {
  let storage: EngineMoviesResponseStorage
  let pages: [MoviesPageDTO]
  let origin: String
  let now: Duration
  private let answers = KnownAnswers()

  func fetch(_ number: Int, isStored: Bool) async throws(CacheError) -> BenchmarkAnswer {
    let request = try request(number)
    if isStored {
      guard let stored = try await storage.response(for: request, isCounted: true) else { return .wrong }
      return answers.isAnswer(stored.response, to: number) ? .hit : .wrong
    }
    let head = StoredHead(
      head: HTTPResponseHead(status: 200, fields: ["ETag": "\"\(number)\""]), storedAt: now,
      freshUntil: now + .seconds(3_600), retainUntil: now + .seconds(86_400))
    let page = pages[number % pages.count]
    try await storage.store(page, head: head, for: request)
    answers.expect(page, for: number)
    return .miss
  }

  private func request(_ number: Int) throws(CacheError) -> MoviesRequestDTO {
    guard let query = MovieQuery("the") else { throw CacheError(.invalidRequest, "there is no such query") }
    return MoviesRequestDTO(origin: origin, query: query, page: number + 1)
  }
}

/// The correct answers, indexed by page number.
private final class KnownAnswers: Sendable {
  private let pages = Mutex<[Int: MoviesPageDTO]>([:])

  func expect(_ page: MoviesPageDTO, for number: Int) { pages.withLock { $0[number] = page } }

  /// Whether `page` is correct. An answer found equal by a full comparison replaces the one it was compared with:
  /// comparing two pages that share their list in memory takes no time.
  func isAnswer(_ page: MoviesPageDTO, to number: Int) -> Bool {
    pages.withLock { pages in
      guard let known = pages[number], known == page else { return false }
      pages[number] = page
      return true
    }
  }
}

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
  func fetcher(
    over engine: any StorageEngine, _ capabilities: Set<EngineCapability> = [.ordered, .bounded]
  ) -> any BenchmarkFetcher {
    let limits = StoreLimits(maxEntries: 1 << 40, maxBytes: 1 << 50, eviction: .lru)
    let store = EntryStore(
      engine: engine, clock: FixedClock(now: now), limits: limits, capabilities: capabilities)
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
    // A fetch continues without a store that fails, and warns of it; here that failure is an error.
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

/// Reads entries through a cache that is full, and stores the missing ones.
struct BoundedReader: BenchmarkFetcher {
  private let target: BenchmarkStore
  private let store: EntryStore
  private let clock: OperationClock

  /// A reader over `target`, from which `policy` evicts. No entry expires during the run, which begins at `now`.
  init(_ target: BenchmarkStore, now: Timestamp, _ policy: EvictionPolicy) {
    self.target = target
    clock = OperationClock(now)
    let limits = target.maximumEntries.map { StoreLimits(maxEntries: $0, eviction: policy) }
    store = EntryStore(engine: target.engine, clock: clock, limits: limits, capabilities: target.capabilities)
  }

  func fetch(_ number: Int, isStored: Bool) async throws(CacheError) -> BenchmarkAnswer {
    let key = try target.key(number)
    let bytes = target.bytes
    clock.tick()
    if isStored {
      let found = try await store.read(key) { payload, _ throws(CacheError) in try bytes.isRight(number, payload) }
      store.countLookUp(found == nil ? nil : key)
      if let found { return found.value ? .hit : .wrong }
    }
    let now = clock.now
    // Longer than a run takes, and short enough for a server to drop the leftovers of a killed run.
    let later = now.advanced(by: .seconds(86_400))
    try await store.write(
      key, payload: try bytes.encode(number),
      metadata: EntryMetadata(storedAt: now, freshUntil: later, retainUntil: later, contentType: "text/plain"))
    return .miss
  }
}

/// A clock that a millisecond passes on with each operation, so that the order of uses does not depend on the speed of
/// the engine.
final class OperationClock: WallClock {
  private let milliseconds: Atomic<Int64>

  init(_ start: Timestamp) { milliseconds = Atomic(start.milliseconds) }

  var now: Timestamp { Timestamp(milliseconds: milliseconds.load(ordering: .relaxed)) }

  func tick() { milliseconds.add(1, ordering: .relaxed) }
}
