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

  /// A page with the given fields.
  public init(page: Int, totalPages: Int, totalItems: Int, movies: [Movie]) {
    self.page = page
    self.totalPages = totalPages
    self.totalItems = totalItems
    self.movies = movies
  }
}
