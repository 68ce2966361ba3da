public import CacheDomain

extension CitiesPage: PresentablePage {
  /// The resource's name.
  public static var resource: String { "cities" }
  /// The singular and the plural of "city".
  public static var nouns: (singular: String, plural: String) { ("city", "cities") }
  /// Pages of cities begin at 0.
  public static var firstPage: Int { 0 }
  /// The cities.
  public var items: [City] { cities }

  /// The members of a city; a table begins with its position in the whole order, if that is known.
  public var columns: [Column<City>] {
    let positions = firstPosition.map { [Column<City>(numbersFrom: $0, priority: -2)] } ?? []
    return positions + [
      Column("id") { .string($0.id) },
      Column("name", .init("City", isShrinkable: true)) { .string($0.name) },
      Column("subName", .init("State", priority: -1)) { JSONValue($0.subName) },
      Column("revenue", .init("Revenue", .right), cell: { .init($0.revenue.map(NumberText.dollars)) }) {
        JSONValue($0.revenue)
      },
      Column("organizationCount", .init("Organizations", .right)) { JSONValue($0.organizationCount) },
    ]
  }

  /// The position of the first city, from 1; `nil` if pages differ in size, as when an origin counts something other
  /// than cities.
  private var firstPosition: Int? {
    // The bound keeps the products below in range, whatever an origin claims.
    guard page >= 0, page < totalPages, totalPages <= totalItems, totalItems < 1 << 31 else { return nil }
    let isLast = page > 0 && page == totalPages - 1
    let before = isLast ? totalItems - cities.count : page * cities.count
    let pageSize = isLast ? before / page : cities.count
    let isRegular = before == page * pageSize && (totalPages - 1) * pageSize < totalItems
    return isRegular && totalItems <= totalPages * pageSize ? before + 1 : nil
  }
}

extension SnapshotView {
  /// The view of all `cities`, which came on the pages of `summary` through the store called `backend` (`nil` if there was
  /// no store). Shows only the first `limit`, or all without a limit. `cities` can be empty if they were shown page by
  /// page: the view then describes only the pages.
  public init(_ cities: [City], _ summary: PagesSummary, backend: String?, limit: Int? = nil) {
    self.init(summary.snapshot(of: cities), backend: backend, limit: limit)
    let extent = summary.extent(limit: limit)
    let sources = [
      (summary.cachedPages, origin.cache), (summary.confirmedPages, "confirmed by the origin"),
      (summary.fetchedPages, "from the origin"),
    ].filter { $0.0 > 0 }
    if sources.count > 1 {
      let text = sources.map { "\(NumberText.text($0.0)) \($0.1)" }.joined(separator: ", ")
      status = StatusLine(extent + [text, origin.freshness], style: origin.isStale ? .yellow : .dim)
    } else {
      status = origin.status(extent)
    }
    // Each kind of failure once.
    warnings = summary.warnings.map(\.error).map { warning in
      let more = summary.warningCounts[warning.code, default: 1] - 1
      let message = more > 0 ? "\(warning.message) (and \(NumberText.text(more)) more like it)" : warning.message
      return ErrorView(code: warning.code.rawValue, message: message, hint: ErrorView(warning, backend: backend).hint)
    }
  }
}

extension PagesSummary {
  /// How many cities and pages are shown, such as "6,057 cities" and "243 pages".
  fileprivate func extent(limit: Int?) -> [String] {
    let count = min(limit ?? cityCount, cityCount)
    guard count == cityCount, donePages >= totalPages else {
      let cities = NumberText.count(totalItems, "city", "cities")
      let pages = NumberText.count(totalPages, "page", "pages")
      return ["First \(NumberText.text(count)) of \(cities)", "\(NumberText.text(donePages)) of \(pages)"]
    }
    guard count > 0 else { return ["No cities"] }
    return [NumberText.count(count, "city", "cities"), NumberText.count(donePages, "page", "pages")]
  }
}

extension MoviesPage: PresentablePage {
  /// The resource's name.
  public static var resource: String { "movies" }
  /// The singular and the plural of "movie".
  public static var nouns: (singular: String, plural: String) { ("movie", "movies") }
  /// The movies.
  public var items: [Movie] { movies }

  /// The members of a movie; a table has title, year and genres, because overviews are too long for one.
  public var columns: [Column<Movie>] {
    [
      Column("id", .init("ID", .right, priority: -1), cell: { .init($0.id, .dim) }) { .string($0.id) },
      Column("title", .init("Title", isShrinkable: true)) { .string($0.title) },
      Column("overview") { JSONValue($0.overview) },
      Column("releaseDate", .init("Year"), cell: { .init($0.releaseDate.map { String($0.prefix(4)) }) }) {
        JSONValue($0.releaseDate)
      },
      Column("posterPath") { JSONValue($0.posterPath) },
      Column("genres", .init("Genres", priority: -1, isShrinkable: true, minimum: 12)) { JSONValue($0.genres) },
    ]
  }
}

extension ListView<RecentMovieQuery> {
  /// The view of `queries`, in their order, at the time `now` since 1970-01-01T00:00:00Z; `limit` is the requested
  /// maximum.
  public init(_ queries: [RecentMovieQuery], now: Duration, limit: Int? = nil) {
    // With a limit of 0 it is unknown whether there are any.
    let remark = limit == 0 ? "None shown" : "No queries yet"
    let columns: [Column<RecentMovieQuery>] = [
      Column("query", .init("Query", isShrinkable: true)) { .string($0.query.text) },
      Column("searchedAt", .init("Searched"), cell: { .init(RelativeTimeText.past($0.searchedAt, now: now), .dim) }) {
        JSONValue(time: $0.searchedAt)
      },
    ]
    self.init(queries, columns, status: queries.isEmpty ? StatusLine([remark]) : nil) { ["queries": .array($0)] }
  }
}

extension SnapshotView {
  /// The view of the poster `snapshot`, the response to `query` through the store called `backend`; its image was written to
  /// `file` (`nil` for none).
  public init(_ snapshot: Snapshot<Poster>, query: PosterQuery, backend: String?, file: String?) {
    let count = snapshot.value.bytes.count
    self.init(
      snapshot, of: "poster", backend: backend,
      [
        Field("path", .string(query.path), "Poster"),
        Field("width", .integer(query.width), "Width", "\(NumberText.text(query.width)) px requested"),
        Field("contentType", .string(snapshot.value.contentType), "Type"),
        Field("bytes", .integer(count), "Size", .init(bytes: count)), Field("file", JSONValue(file), "File"),
      ])
  }
}
