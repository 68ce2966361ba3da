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

  /// Whether this page is beyond the last one. Origins answer requests for such pages too, without movies.
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
