import CacheDomain
import CachePresentation
import Testing

struct AllCitiesViewTests {
  /// Pages of two cities each: 'c' from the cache, 's' a stale one, 'v' confirmed, 'o' from the origin.
  private struct Pages: CityRepository {
    let kinds: [Character]

    func cities(_ query: CitiesQuery, options: FetchOptions) -> Snapshots<CitiesPage> {
      let kind = kinds[query.page]
      let city = City(id: "\(query.page)", name: "A", subName: nil, revenue: nil, organizationCount: nil)
      let page = CitiesPage(page: query.page, totalPages: kinds.count, totalItems: 1_234, cities: [city, city])
      let facts = EntryFacts(
        key: "k", storedAt: .zero, freshUntil: .seconds(kind == "s" ? 60 : 3_600), now: .seconds(180))
      let warnings = kind == "s" ? [CacheError(.originUnreachable, "away \(query.page)", hint: "wait")] : []
      let snapshot = Snapshot(
        value: page, source: kind == "o" ? .origin : .cache, isRevalidated: kind == "v", entry: facts,
        warnings: warnings)
      return Snapshots(explain: { () throws(CacheError) in throw .cancelled }) { .init(snapshot) }
    }
  }

  private static func view(_ kinds: String, limit: Int?) async throws -> SnapshotView {
    var cities: [City] = []
    let useCase = FetchAllCitiesUseCase(
      pages: FetchCitiesUseCase(repository: Pages(kinds: Array(kinds))), maxConcurrentRequests: 1)
    let summary = try await useCase.execute(limit: limit) { page, _ in cities += page.value.cities }
    return SnapshotView(cities, summary, backend: "lmdb", limit: limit)
  }

  @Test(
    arguments: [
      ("ccc", nil, "6 cities · 3 pages · from cache (lmdb), stored 3 min ago, fresh for 57 min"),
      ("o", nil, "2 cities · 1 page · from the origin, fresh for 57 min"),
      ("vv", nil, "4 cities · 2 pages · from cache (lmdb), confirmed by the origin 3 min ago, fresh for 57 min"),
      ("ccoo", nil, "8 cities · 4 pages · 2 from cache (lmdb), 2 from the origin · fresh for 57 min"),
      (
        "cvo", nil,
        "6 cities · 3 pages · 1 from cache (lmdb), 1 confirmed by the origin, 1 from the origin · fresh for 57 min"
      ),
      ("oss", nil, "6 cities · 3 pages · 2 from cache (lmdb), 1 from the origin · stale for 2 min"),
      ("ccc", 3, "First 3 of 1,234 cities · 2 of 3 pages · from cache (lmdb), stored 3 min ago, fresh for 57 min"),
      ("c", 1, "First 1 of 1,234 cities · 1 of 1 page · from cache (lmdb), stored 3 min ago, fresh for 57 min"),
    ] as [(String, Int?, String)])
  func status(_ kinds: String, _ limit: Int?, _ text: String) async throws {
    #expect(try await Self.view(kinds, limit: limit).status?.text == text)
  }

  @Test func failuresOfOneKindAreReportedOnce() async throws {
    let view = try await Self.view("csss", limit: nil)
    #expect(view.warnings.map(\.message) == ["away 1 (and 2 more like it)"] && view.warnings.map(\.hint) == ["wait"])
    #expect(view.json["stale"] == true && view.json["source"] == "cache" && view.json["page"] == 0)
    #expect(view.records.count == 8 && view.columns == ["id", "name", "subName", "revenue", "organizationCount"])
  }
}
