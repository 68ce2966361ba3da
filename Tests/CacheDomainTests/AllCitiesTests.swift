import SeededNumbers
import Testing
@testable import CacheDomain

/// The walk over all pages, with pages that are really fetched at once.
struct FetchAllCitiesTests {
  /// Pages of one city each. Each has a source and a freshness; a page without a result has an error.
  private struct Pages: CityRepository {
    enum Answer: Sendable {
      case page(Snapshot<CitiesPage>.Source, isRevalidated: Bool = false, freshFor: Int, warnings: [CacheWarning] = [])
      case failure(CacheError)
      case never
    }

    let journal = Journal()
    var answers: [Answer]
    var started: AsyncStream<Void>.Continuation?

    func cities(_ query: CitiesQuery, options: FetchOptions) -> Snapshots<CitiesPage> {
      Snapshots(explain: Fixtures.explain) { () async throws(CacheError) in
        journal.add("\(query.page) \(options.policy)")
        return .init(try await answer(query.page))
      }
    }

    private func answer(_ page: Int) async throws(CacheError) -> Snapshot<CitiesPage> {
      switch answers[page] {
      case .page(let source, let isRevalidated, let freshness, let warnings):
        let city = City(id: "\(page)", name: "", subName: nil, revenue: nil, organizationCount: nil)
        let facts = EntryFacts(key: "\(page)", storedAt: .zero, freshUntil: .seconds(freshness), now: .zero)
        return Snapshot(
          value: CitiesPage(page: page, totalPages: answers.count, totalItems: answers.count, cities: [city]),
          source: source, isRevalidated: isRevalidated, entry: facts, warnings: warnings)
      case .failure(let error): throw error
      case .never:
        started?.yield()
        await waitForCancellation()
        throw .cancelled
      }
    }
  }

  private static func walk(
    _ pages: Pages, atOnce count: Int = 2, _ body: (Int) throws(CacheError) -> Void = { _ in }
  ) async throws(CacheError) -> PagesSummary {
    try await FetchAllCitiesUseCase(pages: FetchCitiesUseCase(repository: pages), maxConcurrentRequests: count)
      .execute { page, _ throws(CacheError) in try body(page.value.page) }
  }

  @Test(arguments: [1, 3, 64]) func everyPageIsHandedOnOnceAndInOrder(atOnce count: Int) async throws {
    let pages = Pages(answers: Array(repeating: .page(.origin, freshFor: 60), count: 100))
    var seen: [Int] = []
    let summary = try await Self.walk(pages, atOnce: count) { seen.append($0) }
    #expect(seen == Array(0..<100) && pages.journal.entries.count == 100)
    #expect(summary.fetchedPages == 100 && summary.keptPages == 100 && summary.failure == nil)
  }

  /// The state of each page, and of the result: its source, whether it is confirmed, and for how long it is fresh.
  @Test(
    arguments: [
      ([.page(.cache, freshFor: 9), .page(.cache, freshFor: 5), .page(.cache, freshFor: 7)], .cache, false, 5),
      ([.page(.cache, freshFor: 9), .page(.origin, freshFor: 5)], .origin, false, 9),
      ([.page(.origin, freshFor: 9), .page(.origin, freshFor: 5)], .origin, false, 5),
      ([.page(.origin, freshFor: 9), .page(.cache, freshFor: -5)], .cache, false, -5),
      ([.page(.cache, isRevalidated: true, freshFor: 0), .page(.cache, freshFor: 5)], .cache, false, 5),
      (
        [.page(.cache, isRevalidated: true, freshFor: 9), .page(.cache, isRevalidated: true, freshFor: 5)], .cache,
        true, 5
      ), ([.page(.cache, isRevalidated: true, freshFor: 9), .page(.origin, freshFor: 60)], .origin, false, 9),
    ] as [([Pages.Answer], Snapshot<CitiesPage>.Source, Bool, Int)])
  private func theResultIsAsStaleAsItsStalestPage(
    answers: [Pages.Answer], source: Snapshot<CitiesPage>.Source, isRevalidated: Bool, freshness: Int
  ) async throws {
    let whole = try await Self.walk(Pages(answers: answers)).snapshot(of: [])
    #expect(whole.source == source && whole.isRevalidated == isRevalidated)
    #expect(whole.entry.remainingFreshness == .seconds(freshness))
    #expect(whole.value.totalPages == answers.count)
  }

  @Test func anOriginWhosePageWasServedStaleGetsNoOtherRequest() async throws {
    let away = CacheWarning(.fetching, CacheError(.originUnreachable, "away"))
    let answers: [Pages.Answer] = [.page(.cache, freshFor: -1, warnings: [away])] + [.page(.cache, freshFor: -1)]
    let pages = Pages(answers: answers + [.failure(CacheError(.notCached, "not there"))])
    let summary = try await Self.walk(pages, atOnce: 1)
    #expect(pages.journal.entries == ["0 cacheFirst", "1 cacheOnly", "2 cacheOnly"])
    #expect(
      summary.failure?.message == "away" && summary.donePages == 2 && summary.warningCounts == [.originUnreachable: 1])
  }

  @Test func theFailureOfTheFirstPageIsThrown() async {
    let pages = Pages(answers: [.failure(CacheError(.originRefused, "no"))])
    let error = await #expect(throws: CacheError.self) { _ = try await Self.walk(pages) }
    #expect(error?.code == .originRefused && pages.journal.entries.count == 1)
  }

  @Test func anOutputThatFailsEndsTheWalk() async {
    let pages = Pages(answers: [.page(.origin, freshFor: 60), .never, .never])
    let error = await #expect(throws: CacheError.self) {
      _ = try await Self.walk(pages) { _ throws(CacheError) in throw CacheError(.damaged, "full") }
    }
    #expect(error?.message == "full" && pages.journal.entries.first == "0 cacheFirst")
  }

  @Test func cancellingEndsTheRequestsAndTellsHowFarTheWalkCame() async {
    let summary = await cancelling { ready -> PagesSummary? in
      let answers: [Pages.Answer] = [.page(.origin, freshFor: 60), .page(.origin, freshFor: 60)]
      return try? await Self.walk(Pages(answers: answers + [.never, .page(.cache, freshFor: 1)], started: ready))
    }
    #expect(summary?.failure?.code == .cancelled)
    #expect(summary.map { $0.donePages == 2 && $0.keptPages >= 2 && $0.totalPages == 4 } == true)
  }
}

/// The order in which a walk requests pages and passes them on.
struct PageWalkTests {
  private static func city(_ id: String) -> City {
    City(id: id, name: id, subName: nil, revenue: nil, organizationCount: nil)
  }

  private static func page(
    _ number: Int, of total: Int, cities count: Int = 2, storedAt: Int = 0, warnings: [CacheWarning] = []
  ) -> Snapshot<CitiesPage> {
    let cities = (0..<count).map { city("\(number).\($0)") }
    return Snapshot(
      value: CitiesPage(page: number, totalPages: total, totalItems: 2 * total, cities: cities), source: .cache,
      entry: EntryFacts(key: "k", storedAt: .seconds(storedAt), freshUntil: .seconds(60), now: .zero),
      warnings: warnings)
  }

  private static func start(_ walk: inout PageWalk) -> [Int] {
    var pages: [Int] = []
    while let page = walk.start() { pages.append(page) }
    return pages
  }

  private static func take(_ walk: inout PageWalk) -> [Int] {
    var pages: [Int] = []
    while let page = walk.takeNext() { pages.append(page.value.page) }
    return pages
  }

  /// The first page tells how many there are.
  private static func walk(width: Int, of total: Int, limit: Int? = nil, storedAt: Int = 0) -> PageWalk {
    var walk = PageWalk(width: width, limit: limit)
    #expect(start(&walk) == [0] && start(&walk) == [])
    walk.receive(.success(page(0, of: total, storedAt: storedAt)), for: 0)
    #expect(take(&walk) == [0])
    return walk
  }

  @Test func pagesAreHandedOnInOrderAndASlowOneBoundsTheRest() {
    var walk = Self.walk(width: 2, of: 9)
    #expect(Self.start(&walk) == [1, 2])
    for (page, next) in [(2, [3]), (3, [4]), (4, [])] as [(Int, [Int])] {
      walk.receive(.success(Self.page(page, of: 9)), for: page)
      #expect(Self.take(&walk) == [] && Self.start(&walk) == next)
    }
    walk.receive(.success(Self.page(1, of: 9)), for: 1)
    #expect(Self.take(&walk) == [1, 2, 3, 4] && Self.start(&walk) == [5, 6])
    #expect(walk.summary?.donePages == 5 && walk.summary?.cityCount == 10 && walk.summary?.failure == nil)
  }

  @Test(arguments: 0..<50 as Range<UInt64>) func pagesAreDeliveredInOrderForAnyOrderOfArrival(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let (width, total) = (Int.random(in: 1...7, using: &generator), Int.random(in: 1...40, using: &generator))
    var walk = Self.walk(width: width, of: total)
    var (underWay, taken): ([Int], [Int]) = ([], [0])
    repeat {
      underWay += Self.start(&walk)
      #expect(underWay.count <= width, "seed \(seed)")
      guard let index = underWay.indices.randomElement(using: &generator) else { break }
      let page = underWay.remove(at: index)
      #expect(page < taken.count + 2 * width, "seed \(seed)")
      walk.receive(.success(Self.page(page, of: total)), for: page)
      taken += Self.take(&walk)
    } while true
    #expect(taken == Array(0..<total), "seed \(seed)")
  }

  @Test(arguments: [(0, []), (2, []), (3, [1]), (4, [1]), (5, [1, 2]), (9, [1, 2, 3])] as [(Int, [Int])])
  func noMorePagesAreRequestedThanTheLimitNeeds(limit: Int, pages: [Int]) {
    var walk = Self.walk(width: 3, of: 9, limit: limit)
    #expect(Self.start(&walk) == pages)
  }

  @Test func smallerPagesThanTheFirstLeadFurther() {
    var walk = Self.walk(width: 3, of: 9, limit: 4)
    #expect(Self.start(&walk) == [1])
    walk.receive(.success(Self.page(1, of: 9, cities: 1)), for: 1)
    #expect(Self.take(&walk) == [1] && Self.start(&walk) == [2])
  }

  /// Page 2 of a walk over six pages that were cached at the time 5: its number of pages, its number of cities, and the
  /// time when it was stored; and the resulting number of pages.
  @Test(arguments: [
    (9, 2, 7, 9), (4, 2, 7, 4), (9, 2, 3, 6), (4, 2, 3, 6), (2, 0, 7, 2), (0, 0, 7, 2), (6, 0, 7, 6), (1, 2, 7, 3),
    (1, 0, 7, 1), (.max, 2, 7, .max),
  ])
  func theNewestPageDecidesTheNumberOfPages(says: Int, cities: Int, storedAt: Int, count: Int) {
    var walk = Self.walk(width: 2, of: 6, storedAt: 5)
    #expect(Self.start(&walk) == [1, 2])
    let answer = Snapshot(
      value: CitiesPage(page: 2, totalPages: says, totalItems: 7, cities: (0..<cities).map { Self.city("\($0)") }),
      source: .origin, entry: EntryFacts(key: "k", storedAt: .seconds(storedAt), freshUntil: .seconds(60), now: .zero))
    walk.receive(.success(answer), for: 2)
    #expect(walk.summary?.totalPages == count)
    walk.receive(.success(Self.page(1, of: 6, storedAt: 5)), for: 1)
    #expect(Self.take(&walk) == Array([1, 2].prefix(max(count - 1, 0))))
    #expect(Self.start(&walk) == Array((3..<max(count, 3)).prefix(2)))
  }

  @Test func afterAFailureNoPageIsRequestedAndTheRestIsKept() {
    var walk = Self.walk(width: 3, of: 9)
    #expect(Self.start(&walk) == [1, 2, 3])
    walk.receive(.failure(CacheError(.originUnreachable, "away")), for: 2)
    walk.receive(.failure(CacheError(.invalidAnswer, "later")), for: 3)
    walk.receive(.success(Self.page(1, of: 9)), for: 1)
    #expect(Self.take(&walk) == [1] && Self.start(&walk) == [])
    #expect(walk.summary?.failure?.message == "away" && walk.summary?.keptPages == 2)
  }

  @Test func aFailureBeyondTheEndIsNone() {
    var walk = Self.walk(width: 2, of: 3, storedAt: 1)
    #expect(Self.start(&walk) == [1, 2])
    walk.receive(.failure(CacheError(.notFound, "no such page")), for: 2)
    #expect(walk.summary?.failure?.code == .notFound)
    walk.receive(.success(Self.page(1, of: 2, storedAt: 2)), for: 1)
    #expect(walk.summary?.failure == nil && walk.summary?.totalPages == 2)
  }

  @Test func theFirstFailureIsTheFailureOfTheWalk() {
    var walk = PageWalk(width: 2, limit: nil)
    #expect(Self.start(&walk) == [0])
    walk.receive(.failure(CacheError(.originRefused, "no")), for: 0)
    #expect(walk.summary == nil && walk.firstError.code == .originRefused && Self.start(&walk) == [])
  }

  @Test func theCacheAloneServesAfterTheOriginHasFailed() {
    var walk = Self.walk(width: 1, of: 9)
    #expect(Self.start(&walk) == [1] && !walk.isOffline)
    walk.receive(
      .success(Self.page(1, of: 9, warnings: [CacheWarning(.reading, CacheError(.damaged, "a damaged entry"))])), for: 1
    )
    #expect(Self.take(&walk) == [1] && Self.start(&walk) == [2] && !walk.isOffline)
    walk.receive(
      .success(Self.page(2, of: 9, warnings: [CacheWarning(.fetching, CacheError(.originUnreachable, "away"))])), for: 2
    )
    #expect(Self.take(&walk) == [2] && Self.start(&walk) == [3] && walk.isOffline)
    walk.receive(.failure(CacheError(.notCached, "not there")), for: 3)
    let summary = walk.summary
    #expect(
      summary?.failure?.message == "away" && summary?.warnings.map(\.error.code) == [.damaged, .originUnreachable])
    #expect(summary?.keptPages == 2, "Unreadable pages are counted as absent")
  }
}
