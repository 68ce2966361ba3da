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
