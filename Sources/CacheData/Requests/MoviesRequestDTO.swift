public import CacheDomain

/// A request for a page of the movies that a search finds.
public struct MoviesRequestDTO: CacheableRequest {
  /// The namespace of pages of movies.
  public static let resource = "movies"

  /// The name of the origin that is asked.
  public let origin: String
  /// What is searched.
  public let query: MovieQuery
  /// The page, from 1.
  public let page: Int

  /// A request for page `page` of what `query` finds, to the origin called `origin`.
  public init(origin: String, query: MovieQuery, page: Int) {
    self.origin = origin
    self.query = query
    self.page = page
  }

  /// The origin, the page and the text searched.
  public var parameters: [(name: String, value: String)] {
    [("origin", origin), ("page", String(page)), ("query", query.text)]
  }
}
