import CacheDomain
import CachePresentation
import Testing

private enum PageSamples {
  static let now = Duration.seconds(1_772_366_400)
  static let cities = CitiesPage(
    page: 0, totalPages: 3, totalItems: 6,
    cities: [
      City(id: "new-york-ny", name: "New York", subName: "NY", revenue: 54_298_476_501, organizationCount: 5_012),
      City(id: "x", name: "Nowhere", subName: nil, revenue: nil, organizationCount: nil),
    ])

  static func snapshot<Value>(
    _ value: Value, _ source: Snapshot<Value>.Source = .cache, isRevalidated: Bool = false, storedAgo: Int = 180,
    freshFor: Int = 3_420
  ) -> Snapshot<Value> {
    Snapshot(
      value: value, source: source, isRevalidated: isRevalidated,
      entry: EntryFacts(
        key: "v1/cities", storedAt: now - .seconds(storedAgo), freshUntil: now + .seconds(freshFor), now: now),
      warnings: isRevalidated
        ? [CacheWarning(.reading, CacheError(.damaged, "entry is damaged", hint: "run cachectl verify"))] : [])
  }

  static let movies = MoviesPage(
    page: 1, totalPages: 1, totalItems: 2,
    movies: [
      Movie(
        id: "603", title: "The Matrix", overview: "A hacker.", releaseDate: "1999-03-31", posterPath: "/m.png",
        genres: ["Action", "Science Fiction"]),
      Movie(id: "7", title: "Evil\u{1B}]0;x\u{7}", overview: nil, releaseDate: nil, posterPath: nil, genres: []),
    ])
}

struct PageViewTests {
  private static func text(_ view: some OutputView, _ format: OutputFormat) -> String {
    OutputRenderer(format, on: .file).text(view)
  }

  @Test(
    arguments: [
      (
        OutputFormat.json,
        #"{"resource":"cities","source":"cache","revalidated":false,"stale":false,"backend":"lmdb","key":"v1/cities","#
          + #""stored":true,"storedAt":"2026-03-01T11:57:00Z","freshUntil":"2026-03-01T12:57:00Z","page":0,"totalPages":3,"#
          + #""totalItems":6,"#
          + #""items":[{"id":"new-york-ny","name":"New York","subName":"NY","revenue":54298476501,"#
          + #""organizationCount":5012},{"id":"x","name":"Nowhere","subName":null,"revenue":null,"#
          + #""organizationCount":null}]}"# + "\n"
      ),
      (
        .ndjson,
        #"{"id":"new-york-ny","name":"New York","subName":"NY","revenue":54298476501,"organizationCount":5012}"# + "\n"
          + #"{"id":"x","name":"Nowhere","subName":null,"revenue":null,"organizationCount":null}"# + "\n"
      ),
      (
        .csv,
        "id,name,subName,revenue,organizationCount\r\nnew-york-ny,New York,NY,54298476501,5012\r\nx,Nowhere,,,\r\n"
      ),
      (
        .table,
        """
        #  City      State          Revenue  Organizations
        1  New York  NY     $54,298,476,501          5,012
        2  Nowhere   -                    -              -

        """
      ),
    ] as [(OutputFormat, String)])
  func cities(_ format: OutputFormat, _ text: String) {
    #expect(Self.text(SnapshotView(PageSamples.snapshot(PageSamples.cities), backend: "lmdb"), format) == text)
  }

  @Test(
    arguments: [
      (
        PageSamples.snapshot(PageSamples.cities), "lmdb", nil,
        "Page 1 of 3 (--page 0) · 6 cities · from cache (lmdb), stored 3 min ago, fresh for 57 min"
      ),
      (
        PageSamples.snapshot(PageSamples.cities, freshFor: -60), "lmdb", 1,
        "Page 1 of 3 (--page 0), first 1 · 6 cities · from cache (lmdb), stored 3 min ago, stale for 1 min"
      ),
      (
        PageSamples.snapshot(PageSamples.cities, isRevalidated: true, storedAgo: 0, freshFor: 3_600), "sqlite", 5,
        "Page 1 of 3 (--page 0) · 6 cities · from cache (sqlite), confirmed by the origin just now, fresh for 1 h"
      ),
      (
        PageSamples.snapshot(PageSamples.cities, .origin, freshFor: 3_600), nil, nil,
        "Page 1 of 3 (--page 0) · 6 cities · from the origin, fresh for 1 h"
      ),
      (
        PageSamples.snapshot(PageSamples.cities, .origin, freshFor: 0), nil, nil,
        "Page 1 of 3 (--page 0) · 6 cities · from the origin, to be confirmed before each use"
      ),
      (
        PageSamples.snapshot(CitiesPage(page: 0, totalPages: 0, totalItems: 0, cities: []), .origin), nil, nil,
        "No cities · from the origin, fresh for 57 min"
      ),
    ] as [(Snapshot<CitiesPage>, String?, Int?, String)])
  func status(_ snapshot: Snapshot<CitiesPage>, _ backend: String?, _ limit: Int?, _ text: String) {
    #expect(SnapshotView(snapshot, backend: backend, limit: limit).status?.text == text)
  }

  @Test func staleIsShownInTheDocumentAndInColor() {
    let view = SnapshotView(PageSamples.snapshot(PageSamples.cities, freshFor: -60), backend: nil, limit: 0)
    #expect(view.json["stale"] == true)
    #expect(view.json["backend"] == .some(.null))
    #expect(view.json["items"] == [])
    #expect(view.status?.line(on: .terminal(width: 80, hasColor: true)).hasPrefix("\u{1B}[33mPage") == true)
    #expect(Self.text(view, .table) == "")
  }

  @Test func aValueThatIsNotStoredHasNoTimeOfStoring() {
    var snapshot = PageSamples.snapshot(PageSamples.cities, .origin)
    snapshot.entry = EntryFacts(
      key: "k", storedAt: PageSamples.now, freshUntil: PageSamples.now, now: PageSamples.now, isStored: false)
    let view = SnapshotView(snapshot, backend: nil)
    #expect(view.json["stored"] == false && view.json["storedAt"] == .some(.null))
    #expect(view.status?.text == "Page 1 of 3 (--page 0) · 6 cities · from the origin, not stored")
  }

  @Test func revalidatedIsShownWithItsWarnings() {
    let view = SnapshotView(PageSamples.snapshot(PageSamples.cities, isRevalidated: true), backend: "lmdb")
    #expect(view.json["revalidated"] == true)
    #expect(view.json["source"] == "cache")
    #expect(view.json["stale"] == false)
    #expect(
      view.warnings.map { Diagnostic.warning($0).text(on: .file) } == [
        "cachectl: warning: entry is damaged\n  hint: run cachectl verify\n"
      ])
  }

  @Test(
    arguments: [
      (0, 3, 6, 2, "1"), (1, 3, 6, 2, "3"), (2, 3, 6, 2, "5"), (2, 3, 5, 1, "5"), (0, 1, 2, 2, "1"),
      (0, 3, 60, 2, nil), (1, 3, 6, 1, nil), (2, 3, 6, 3, nil), (3, 3, 6, 2, nil), (0, 0, 0, 2, nil),
      (.max, .max, .max, 2, nil), (-1, 3, 6, 2, nil),
    ] as [(Int, Int, Int, Int, String?)])
  func positions(_ page: Int, _ pages: Int, _ total: Int, _ count: Int, _ first: String?) {
    let city = City(id: "a", name: "A", subName: "B", revenue: 1, organizationCount: 1)
    let value = CitiesPage(
      page: page, totalPages: pages, totalItems: total, cities: Array(repeating: city, count: count))
    let view = SnapshotView(PageSamples.snapshot(value), backend: nil)
    let table = OutputRenderer(.table, on: .file).text(view, hasHeader: false)
    #expect(table.split(separator: " ").first.map(String.init) == first ?? "A")
    #expect(view.status != nil)
  }

  @Test(
    arguments: [
      (
        OutputFormat.table,
        """
         ID  Title                Year  Genres
        603  The Matrix           1999  Action, Science Fiction
          7  Evil\\u{1B}]0;x\\u{7}  -     -

        """
      ),
      (
        .csv,
        "id,title,overview,releaseDate,posterPath,genres\r\n"
          + "603,The Matrix,A hacker.,1999-03-31,/m.png,Action; Science Fiction\r\n7,Evil\u{1B}]0;x\u{7},,,,\r\n"
      ),
      (
        .ndjson,
        #"{"id":"603","title":"The Matrix","overview":"A hacker.","releaseDate":"1999-03-31","posterPath":"/m.png","#
          + #""genres":["Action","Science Fiction"]}"# + "\n"
          + #"{"id":"7","title":"Evil\u001b]0;x\u0007","overview":null,"releaseDate":null,"posterPath":null,"#
          + #""genres":[]}"# + "\n"
      ),
    ] as [(OutputFormat, String)])
  func movies(_ format: OutputFormat, _ text: String) {
    #expect(Self.text(SnapshotView(PageSamples.snapshot(PageSamples.movies), backend: "lmdb"), format) == text)
  }

  @Test func pagesOfMoviesBeginAtOne() {
    let status = SnapshotView(PageSamples.snapshot(PageSamples.movies), backend: nil).status?.text
    #expect(status == "Page 1 of 1 · 2 movies · from cache, stored 3 min ago, fresh for 57 min")
  }

  @Test func csvOnATerminalIsSafe() {
    let view = SnapshotView(PageSamples.snapshot(PageSamples.movies), backend: nil)
    let text = OutputRenderer(.csv, on: .terminal(width: 80, hasColor: true)).text(view, hasHeader: false)
    #expect(text.hasSuffix("7,Evil\\u{1B}]0;x\\u{7},,,,\r\n"))
    #expect(!text.contains("overview"))
  }

  @Test func poster() {
    let snapshot = PageSamples.snapshot(Poster(bytes: Array(repeating: 0, count: 2_048), contentType: "image/png"))
    let view = SnapshotView(snapshot, query: PosterQuery(path: "/m.png"), backend: "lmdb", file: nil)
    #expect(
      Self.text(view, .table) == """
        Poster  /m.png
        Width   342 px requested
        Type    image/png
        Size    2.0 KiB (2,048 bytes)
        File    -

        """)
    #expect(
      Self.text(view, .json).hasSuffix(
        #""path":"/m.png","width":342,"contentType":"image/png","bytes":2048,"file":null}"# + "\n"))
    #expect(
      Self.text(view, .csv).hasPrefix("resource,source,revalidated,stale,backend,key,stored,storedAt,freshUntil,path,"))
    #expect(view.status?.text == "from cache (lmdb), stored 3 min ago, fresh for 57 min")
  }

  @Test func queries() throws {
    let query = try #require(MovieQuery("the  matrix"))
    let view = ListView(
      [RecentMovieQuery(query: query, searchedAt: PageSamples.now - .seconds(180))], now: PageSamples.now)
    #expect(
      Self.text(view, .json) == #"{"queries":[{"query":"the matrix","searchedAt":"2026-03-01T11:57:00Z"}]}"# + "\n")
    #expect(Self.text(view, .ndjson) == #"{"query":"the matrix","searchedAt":"2026-03-01T11:57:00Z"}"# + "\n")
    #expect(Self.text(view, .table) == "Query       Searched\nthe matrix  3 min ago\n")
    #expect(view.status == nil)
    #expect(ListView([RecentMovieQuery](), now: PageSamples.now).status?.text == "No queries yet")
    #expect(ListView([RecentMovieQuery](), now: PageSamples.now, limit: 3).status?.text == "No queries yet")
    #expect(ListView([RecentMovieQuery](), now: PageSamples.now, limit: 0).status?.text == "None shown")
  }
}

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
      let warnings =
        kind == "s" ? [CacheWarning(.fetching, CacheError(.originUnreachable, "away \(query.page)", hint: "wait"))] : []
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
      ), ("oss", nil, "6 cities · 3 pages · 2 from cache (lmdb), 1 from the origin · stale for 2 min"),
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
