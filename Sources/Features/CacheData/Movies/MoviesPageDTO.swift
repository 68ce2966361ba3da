public import CacheDomain

/// A page of movies as it is stored and transferred.
public struct MoviesPageDTO: Codable, Sendable, Hashable {
  /// A movie as it is stored and transferred.
  public struct MovieDTO: Codable, Sendable, Hashable {
    package let id: String
    package let title: String
    package let overview: String?
    package let releaseDate: String?
    package let posterPath: String?
    package let genres: [String]

    /// Creates the DTO of a movie.
    package init(
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

  package let page: Int
  package let totalPages: Int
  package let totalItems: Int
  package let items: [MovieDTO]

  /// Creates the DTO of a page from its fields.
  package init(page: Int, totalPages: Int, totalItems: Int, items: [MovieDTO]) {
    (self.page, self.totalPages, self.totalItems, self.items) = (page, totalPages, totalItems, items)
  }

  /// Creates the DTO of `page`.
  public init(_ page: MoviesPage) {
    self.page = page.page
    self.totalPages = page.totalPages
    self.totalItems = page.totalItems
    self.items = page.movies.map { movie in
      MovieDTO(
        id: movie.id, title: movie.title, overview: movie.overview, releaseDate: movie.releaseDate,
        posterPath: movie.posterPath, genres: movie.genres)
    }
  }

  /// The page as the domain represents it.
  public func toDomain() -> MoviesPage {
    MoviesPage(
      page: page, totalPages: totalPages, totalItems: totalItems,
      movies: items.map { movie in
        Movie(
          id: movie.id, title: movie.title, overview: movie.overview, releaseDate: movie.releaseDate,
          posterPath: movie.posterPath, genres: movie.genres)
      })
  }
}
