/// A movie.
public struct Movie: Sendable, Hashable, Identifiable {
  /// The movie's identifier, unique within its origin.
  public let id: String
  /// The title.
  public let title: String
  /// A few sentences about the movie; `nil` if the origin has none.
  public let overview: String?
  /// The day of release as `YYYY-MM-DD`, or `YYYY` if only the year is known; `nil` if neither is.
  public let releaseDate: String?
  /// The path with which to fetch the poster; `nil` if there is none.
  public let posterPath: String?
  /// The names of its genres.
  public let genres: [String]

  /// Creates a movie.
  public init(
    id: String, title: String, overview: String?, releaseDate: String?, posterPath: String?, genres: [String]
  ) {
    self.id = id
    self.title = title
    self.overview = overview
    self.releaseDate = releaseDate
    self.posterPath = posterPath
    self.genres = genres
  }
}

/// One page of a search's results.
public struct MoviesPage: Sendable, Hashable {
  /// The number of this page, from 1.
  public let page: Int
  /// The number of result pages.
  public let totalPages: Int
  /// The number of movies on all pages.
  public let totalItems: Int
  /// The movies of this page.
  public let movies: [Movie]

  /// Whether this page is beyond the last one. Origins respond to requests for such pages too, without movies.
  public var isBeyondLast: Bool { page > 1 && movies.isEmpty && page > totalPages }

  /// - Throws: `CacheError` with the code `notFound` if this page is beyond the last one.
  func checkExists() throws(CacheError) {
    guard isBeyondLast else { return }
    throw CacheError(
      .notFound, "there is no page \(page) of movies",
      hint: totalPages > 0 ? "the last page of this search is \(totalPages)" : "the search finds no movies")
  }

  /// Creates a page.
  public init(page: Int, totalPages: Int, totalItems: Int, movies: [Movie]) {
    self.page = page
    self.totalPages = totalPages
    self.totalItems = totalItems
    self.movies = movies
  }
}

/// A source of movies.
public protocol MoviesRepository: Sendable {
  /// Fetches page `page` (from 1) of the movies that match `query`, as `options` say.
  func movies(_ query: MovieQuery, page: Int, options: FetchOptions) -> Snapshots<MoviesPage>
}

/// Searches movies, and remembers the query if the search succeeded.
public struct SearchMoviesUseCase: Sendable {
  private let movies: any MoviesRepository
  private let queries: any MovieQueriesRepository

  /// Creates a use case over the two repositories.
  public init(movies: any MoviesRepository, queries: any MovieQueriesRepository) {
    self.movies = movies
    self.queries = queries
  }

  /// Fetches page `page` (from 1) of the movies that match `query`, as `options` say.
  ///
  /// Throws `notFound` beyond the last page. The query is saved before the first snapshot is returned. If saving fails,
  /// that snapshot gets a warning, unless it has one for the same reason: the movies are what the user asked for.
  public func execute(
    _ query: MovieQuery, page: Int = 1, options: FetchOptions = FetchOptions()
  ) -> Snapshots<MoviesPage> {
    let snapshots = movies.movies(query, page: page, options: options)
      .checked { page throws(CacheError) in try page.checkExists() }
    return snapshots.changingFirst { [queries] snapshot throws(CacheError) in
      var snapshot = snapshot
      do throws(CacheError) {
        try await queries.save(query)
      } catch {
        if error.code == .cancelled { throw error }
        snapshot.addWarning(unsaved: error)
      }
      return snapshot
    }
  }
}

extension Snapshot<MoviesPage> {
  /// Says that the query was not saved because of `error`, unless that has kept the movies from being stored too.
  fileprivate mutating func addWarning(unsaved error: CacheError) {
    if !entry.isStored, warnings.contains(where: { $0.error.message == error.message }) { return }
    let unsaved = CacheError(
      error.code, "the query was not saved among the recent ones: \(error.message)", hint: error.hint, key: error.key,
      cause: error.cause)
    warnings.append(CacheWarning(.storing, unsaved, key: error.key))
  }
}

/// The text of a search for movies.
public struct MovieQuery: Sendable, Hashable {
  /// The text, without white space around it and with single spaces between words.
  public let text: String

  /// Creates a query for `text`; `nil` if it contains only white space.
  public init?(_ text: String) {
    self.text = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    if self.text.isEmpty { return nil }
  }
}

/// An earlier search.
public struct RecentMovieQuery: Sendable, Hashable {
  /// The query.
  public let query: MovieQuery
  /// The time of the last search for it, since 1970-01-01T00:00:00Z.
  public let searchedAt: Duration

  /// Creates the record of a search.
  public init(query: MovieQuery, searchedAt: Duration) {
    self.query = query
    self.searchedAt = searchedAt
  }
}

/// Remembers searches.
public protocol MovieQueriesRepository: Sendable {
  /// The most recent queries, newest first, without duplicates.
  func recentQueries() async throws(CacheError) -> [RecentMovieQuery]

  /// Makes `query` the most recent one.
  func save(_ query: MovieQuery) async throws(CacheError)
}

/// Lists recent searches.
public struct FetchRecentMovieQueriesUseCase: Sendable {
  private let repository: any MovieQueriesRepository

  /// Creates a use case over `repository`.
  public init(repository: any MovieQueriesRepository) {
    self.repository = repository
  }

  /// Returns at most `limit` (0 or more) recent queries, newest first.
  public func execute(limit: Int = .max) async throws(CacheError) -> [RecentMovieQuery] {
    Array(try await repository.recentQueries().prefix(limit))
  }
}

/// A source of posters.
public protocol PosterImagesRepository: Sendable {
  /// Fetches the poster that `query` describes, as `options` say.
  func poster(_ query: PosterQuery, options: FetchOptions) -> Snapshots<Poster>
}

/// The image of a movie's poster.
public struct Poster: Sendable, Hashable {
  /// The encoded image.
  public let bytes: [UInt8]
  /// Its media type, such as "image/png".
  public let contentType: String

  /// Creates a poster.
  public init(bytes: [UInt8], contentType: String) {
    self.bytes = bytes
    self.contentType = contentType
  }
}

/// Which poster to fetch, and how wide.
public struct PosterQuery: Sendable, Hashable {
  /// The available widths in pixels, ascending (those of the public API).
  public static let widths = [92, 154, 185, 342, 500, 780]

  /// The path of the poster, as a movie names it, beginning with a slash.
  public let path: String
  /// The width in pixels, one of `widths`.
  public let width: Int

  /// Creates a query for the poster at `path`, in the available width nearest to `width`. Of two equally near widths it
  /// takes the larger.
  public init(path: String, width: Int = 342) {
    self.path = path.hasPrefix("/") ? path : "/" + path
    // Clamp first, so that the distances cannot overflow.
    let wanted = min(max(width, 0), 1_000)
    self.width = Self.widths.reversed().min { abs($0 - wanted) < abs($1 - wanted) } ?? 342
  }
}
