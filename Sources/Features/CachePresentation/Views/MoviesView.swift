public import CacheDomain

/// A fetched page of movies.
public typealias MoviesView = PageView<MoviesPage>

extension MoviesPage: PresentablePage {
  /// The resource's name.
  public static var resource: String { "movies" }
  /// The singular and the plural of "movie".
  public static var nouns: (singular: String, plural: String) { ("movie", "movies") }
  /// Pages of movies begin at 1.
  public static var firstPage: Int { 1 }
  /// The names of the members of a movie.
  public static var itemColumns: [String] { ["id", "title", "overview", "releaseDate", "posterPath", "genres"] }

  /// The number of movies on the page.
  public var itemCount: Int { movies.count }

  /// The documents of the movies.
  public var items: [JSONValue] {
    movies.map { movie in
      [
        "id": .string(movie.id), "title": .string(movie.title), "overview": JSONValue(movie.overview),
        "releaseDate": JSONValue(movie.releaseDate), "posterPath": JSONValue(movie.posterPath),
        "genres": JSONValue(movie.genres),
      ]
    }
  }

  /// The movies by title, year and genres; overviews are too long for a table.
  public func table(first count: Int) -> Table {
    let columns: [Table.Column] = [
      .init("ID", .right, priority: -1), .init("Title", isShrinkable: true), .init("Year"),
      .init("Genres", priority: -1, isShrinkable: true, minimum: 12),
    ]
    return Table(columns, rows: movies.prefix(count).map(Self.row))
  }

  private static func row(_ movie: Movie) -> [Table.Cell] {
    [
      .init(movie.id, .dim), .init(movie.title, .plain), .init(movie.releaseDate.map { String($0.prefix(4)) }),
      .init(movie.genres.isEmpty ? nil : movie.genres.joined(separator: ", ")),
    ]
  }
}

/// A fetched poster, without its image.
public struct PosterView: SingleRecordView {
  private let origin: SnapshotOrigin
  private let query: PosterQuery
  private let byteCount: Int
  private let contentType: String
  private let file: String?

  /// The view of `snapshot`, the answer to `query` through the store called `backend`; its image was written to `file`
  /// (`nil` for none).
  public init(_ snapshot: Snapshot<Poster>, query: PosterQuery, backend: String?, file: String?) {
    self.origin = SnapshotOrigin(snapshot, backend: backend)
    self.query = query
    self.byteCount = snapshot.value.bytes.count
    self.contentType = snapshot.value.contentType
    self.file = file
  }

  /// The document: the members of every fetch, then "path", "width", "contentType", "bytes" and "file".
  public var json: JSONValue {
    .object(
      origin.members(resource: "poster") + [
        .init("path", .string(query.path)), .init("width", .integer(query.width)),
        .init("contentType", .string(contentType)), .init("bytes", .integer(byteCount)),
        .init("file", JSONValue(file)),
      ])
  }

  /// The facts about the image, one per line.
  public func table(on screen: Screen, hasHeader: Bool) -> String {
    Details.text(
      [
        ("Poster", .init(query.path, .plain)), ("Width", "\(NumberText.text(query.width)) px"),
        ("Type", .init(contentType, .plain)), ("Size", Details.bytes(byteCount)), ("File", .init(file)),
      ], on: screen)
  }

  /// Where the image came from.
  public var status: StatusLine? { origin.status([]) }

  /// The failures on the way to this poster.
  public var warnings: [ErrorView] { origin.warnings }
}

/// The most recent queries.
public struct QueriesView: OutputView {
  private let queries: [RecentMovieQuery]
  private let now: Duration
  private let limit: Int?

  /// The view of `queries`, in their order, at the time `now` since 1970-01-01T00:00:00Z; `limit` is the requested
  /// maximum.
  public init(_ queries: [RecentMovieQuery], now: Duration, limit: Int? = nil) {
    self.queries = queries
    self.now = now
    self.limit = limit
  }

  /// The document `{"queries": [{"query", "searchedAt"}]}`.
  public var json: JSONValue { ["queries": .array(records)] }

  /// The names of the members of a query.
  public var columns: [String] { ["query", "searchedAt"] }

  /// The queries.
  public var records: [JSONValue] {
    queries.map { ["query": .string($0.query.text), "searchedAt": JSONValue(time: $0.searchedAt)] }
  }

  /// The queries, each with the time since it was searched.
  public func table(on screen: Screen, hasHeader: Bool) -> String {
    let rows = queries.map { recent in
      [
        Table.Cell(recent.query.text, .plain),
        Table.Cell(RelativeTimeText.past(recent.searchedAt, now: now), .dim),
      ]
    }
    return Table([.init("Query", isShrinkable: true), .init("Searched")], rows: rows)
      .text(on: screen, hasHeader: hasHeader)
  }

  /// The remark that there are none. With a limit of 0 that is unknown.
  public var status: StatusLine? {
    guard queries.isEmpty else { return nil }
    return StatusLine([limit == 0 ? "None shown" : "No queries yet"])
  }
}
