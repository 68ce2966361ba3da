import CacheDomain
import Testing

/// The walk over all pages, with pages that are really fetched at once.
struct FetchAllCitiesTests {
  /// Pages of one city each, each with how it stands; a page without answers by its error.
  private struct Pages: CityRepository {
    enum Answer: Sendable {
      case page(Snapshot<CitiesPage>.Source, isRevalidated: Bool = false, freshFor: Int, warnings: [CacheError] = [])
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

  @Test(arguments: [1, 3, 64])
  func everyPageIsHandedOnOnceAndInOrder(atOnce count: Int) async throws {
    let pages = Pages(answers: Array(repeating: .page(.origin, freshFor: 60), count: 100))
    var seen: [Int] = []
    let summary = try await Self.walk(pages, atOnce: count) { seen.append($0) }
    #expect(seen == Array(0..<100) && pages.journal.entries.count == 100)
    #expect(summary.fetchedPages == 100 && summary.keptPages == 100 && summary.failure == nil)
  }

  /// How pages stand, and how the whole of them does: its source, whether it is confirmed, and for how long it is fresh.
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
      ),
      ([.page(.cache, isRevalidated: true, freshFor: 9), .page(.origin, freshFor: 60)], .origin, false, 9),
    ] as [([Pages.Answer], Snapshot<CitiesPage>.Source, Bool, Int)])
  private func theWholeIsNoBetterThanItsWorstPage(
    answers: [Pages.Answer], source: Snapshot<CitiesPage>.Source, isRevalidated: Bool, freshness: Int
  ) async throws {
    let whole = try await Self.walk(Pages(answers: answers)).snapshot(of: [])
    #expect(whole.source == source && whole.isRevalidated == isRevalidated)
    #expect(whole.entry.remainingFreshness == .seconds(freshness))
    #expect(whole.value.totalPages == answers.count)
  }

  @Test func anOriginForWhichAPageStoodInIsAskedForNoOther() async throws {
    let away = CacheError(.originUnreachable, "away")
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
