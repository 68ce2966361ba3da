/// One page of the movies that a search found.
public struct MoviesPage: Sendable, Hashable {
  /// The number of this page, from 1.
  public let page: Int
  /// How many pages there are.
  public let totalPages: Int
  /// How many movies there are on all pages.
  public let totalItems: Int
  /// The movies of this page.
  public let movies: [Movie]

  /// Whether it lies beyond the last page. Origins answer such a page too, without movies.
  public var isBeyondLast: Bool { page > 1 && movies.isEmpty && page > totalPages }

  /// - Throws: `CacheError` with the code `notFound` where it lies beyond the last page.
  func checkExists() throws(CacheError) {
    guard isBeyondLast else { return }
    throw CacheError(
      .notFound, "there is no page \(page) of movies",
      hint: totalPages > 0 ? "the last page of this search is \(totalPages)" : "the search finds no movies")
  }

  /// A page with the given fields.
  public init(page: Int, totalPages: Int, totalItems: Int, movies: [Movie]) {
    self.page = page
    self.totalPages = totalPages
    self.totalItems = totalItems
    self.movies = movies
  }
}
