import CacheDomain
import Testing

struct UseCaseTests {
  /// Repositories that record their calls.
  struct FakeRepository: CityRepository, MoviesRepository, MovieQueriesRepository {
    let journal = Journal()
    var pages = 1
    var fetchError: CacheError?
    var saveError: CacheError?
    var recent: [RecentMovieQuery] = []

    func cities(_ query: CitiesQuery, options: FetchOptions) -> Snapshots<CitiesPage> {
      journal.add("cities \(query.order) \(query.direction) \(query.page) \(options.policy)")
      let page = CitiesPage(page: query.page, totalPages: 5, totalItems: 0, cities: [])
      return Snapshots(explain: Fixtures.explain) { .init(Fixtures.snapshot(page)) }
    }

    func movies(_ query: MovieQuery, page: Int, options: FetchOptions) -> Snapshots<MoviesPage> {
      journal.add("movies \(query.text) \(page) \(options.policy)")
      let pages = Array(repeating: Fixtures.page, count: self.pages)
      return Fixtures.snapshots(pages, then: fetchError, journal: Journal())
    }

    func recentQueries() async throws(CacheError) -> [RecentMovieQuery] {
      if let fetchError { throw fetchError }
      return recent
    }

    func save(_ query: MovieQuery) async throws(CacheError) {
      journal.add("save \(query.text)")
      if let saveError { throw saveError }
    }
  }

  private func search(_ repository: FakeRepository) throws -> Snapshots<MoviesPage> {
    let query = try #require(MovieQuery(" the  wire "))
    return SearchMoviesUseCase(movies: repository, queries: repository)
      .execute(query, page: 2, options: FetchOptions(policy: .cachedThenNetwork))
  }

  @Test func aSearchSavesItsQueryOnceBeforeTheFirstSnapshot() async throws {
    let repository = FakeRepository(pages: 3)
    var iterator = try search(repository).makeAsyncIterator()
    #expect(repository.journal.entries == ["movies the wire 2 cachedThenNetwork"])
    let first = try await iterator.next()
    #expect(first?.warnings.isEmpty == true)
    #expect(repository.journal.entries == ["movies the wire 2 cachedThenNetwork", "save the wire"])
    while try await iterator.next() != nil {}
    #expect(repository.journal.entries.count == 2)
  }

  @Test func aSearchThatFailsSavesNothing() async throws {
    let repository = FakeRepository(pages: 0, fetchError: CacheError(.originUnreachable, "away"))
    let (snapshots, error) = await Fixtures.collect(try search(repository))
    #expect(snapshots.isEmpty)
    #expect(error?.code == .originUnreachable)
    #expect(!repository.journal.entries.contains("save the wire"))
  }

  @Test func aQueryThatCannotBeSavedIsAWarningOnTheFirstSnapshot() async throws {
    let repository = FakeRepository(pages: 2, saveError: CacheError(.damaged, "the queries are damaged"))
    let (snapshots, error) = await Fixtures.collect(try search(repository))
    #expect(error == nil)
    #expect(snapshots.map { $0.warnings.map(\.error.code) } == [[.damaged], []])
    // The search itself may have failed in the same words.
    let message = "the query was not saved among the recent ones: the queries are damaged"
    #expect(snapshots.first?.warnings.map(\.error.message) == [message])
  }

  @Test func aSearchCancelledWhileItSavesIsCancelled() async throws {
    let repository = FakeRepository(saveError: .cancelled)
    let (snapshots, error) = await Fixtures.collect(try search(repository))
    #expect(snapshots.isEmpty)
    #expect(error?.code == .cancelled)
  }

  @Test(arguments: [(0, 0), (1, 1), (2, 2), (3, 3), (4, 3), (Int.max, 3)])
  func recentQueriesAreLimited(limit: Int, count: Int) async throws {
    let recent = try ["a", "b", "c"].enumerated().map { index, text in
      RecentMovieQuery(query: try #require(MovieQuery(text)), searchedAt: .seconds(index))
    }
    let useCase = FetchRecentMovieQueriesUseCase(repository: FakeRepository(recent: recent))
    #expect(try await useCase.execute(limit: limit) == Array(recent.prefix(count)))
    #expect(try await useCase.execute() == recent)
  }

  @Test func citiesComeFromTheirRepository() async throws {
    let repository = FakeRepository()
    let options = FetchOptions(policy: .cacheOnly)
    let cities = FetchCitiesUseCase(repository: repository)
      .execute(CitiesQuery(order: .name, direction: .descending, page: 4), options: options)
    #expect(repository.journal.entries == ["cities name descending 4 cacheOnly"])
    #expect(await Fixtures.collect(cities).snapshots.map(\.value.page) == [4])
    for page in [5, Int.max] {
      let beyond = FetchCitiesUseCase(repository: repository).execute(CitiesQuery(page: page))
      let (snapshots, error) = await Fixtures.collect(beyond)
      #expect(snapshots.isEmpty && error?.code == .notFound && error?.hint.contains("the last is 4") == true)
    }
  }
}

struct QueryTests {
  @Test(arguments: [
    (CityOrder.revenue, SortDirection.descending), (.organizations, .descending), (.name, .ascending),
  ])
  func citiesAreSortedInTheDirectionThatPeopleExpect(order: CityOrder, direction: SortDirection) {
    #expect(CitiesQuery(order: order).direction == direction)
    for given in SortDirection.allCases { #expect(CitiesQuery(order: order, direction: given).direction == given) }
  }

  @Test func theFirstPageOfTheCitiesOfLargestRevenueIsTheDefault() {
    #expect(CitiesQuery() == CitiesQuery(order: .revenue, direction: .descending, page: 0))
    #expect(CitiesQuery(page: 3).page == 3)
  }

  @Test func ordersAndDirectionsHaveTheNamesInTheKeys() {
    #expect(CityOrder.allCases.map(\.rawValue) == ["revenue", "organizations", "name"])
    #expect(SortDirection.allCases.map(\.rawValue) == ["asc", "desc"])
    #expect(
      FetchPolicy.allCases.map(\.rawValue) == ["cache-first", "cached-then-network", "network-only", "cache-only"])
  }

  @Test(arguments: [
    ("batman", "batman"), ("  batman  ", "batman"), ("the\t dark\n\nknight", "the dark knight"),
    ("\u{A0}a\u{3000}b\u{2028}", "a b"), ("Ünter Über", "Ünter Über"), ("a\r\nb", "a b"), ("0", "0"),
  ])
  func whiteSpaceOfMovieQueriesIsNormalised(text: String, expected: String) throws {
    let query = try #require(MovieQuery(text))
    #expect(query.text == expected)
    #expect(MovieQuery(query.text) == query)
  }

  @Test(arguments: ["", " ", "\t\n\r\n", "\u{3000}\u{A0}"]) func aMovieQueryHoldsMoreThanWhiteSpace(text: String) {
    #expect(MovieQuery(text) == nil)
  }

  @Test(arguments: [
    (92, 92), (154, 154), (185, 185), (342, 342), (500, 500), (780, 780), (0, 92), (-1, 92), (122, 92), (123, 154),
    (124, 154), (169, 154), (170, 185), (263, 185), (264, 342), (420, 342), (421, 500), (422, 500), (639, 500),
    (640, 780), (781, 780), (Int.max, 780), (Int.min, 92), (Int.min + 100, 92),
  ])
  func postersComeInTheNearestWidthAndTheLargerOfTwo(asked: Int, width: Int) {
    #expect(PosterQuery(path: "/a.png", width: asked).width == width)
  }

  @Test(arguments: [("/a.png", "/a.png"), ("a.png", "/a.png"), ("", "/"), ("//a", "//a")])
  func pathsOfPostersBeginWithASlash(path: String, expected: String) {
    #expect(PosterQuery(path: path).path == expected)
    #expect(PosterQuery(path: path).width == 342)
  }
}
