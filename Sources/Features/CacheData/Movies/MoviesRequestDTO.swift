public import CacheDomain

/// A request for a page of search results.
public struct MoviesRequestDTO: CacheableRequest {
  /// The namespace of pages of movies.
  public static let resource = "movies"

  /// The origin's name.
  public let origin: String
  /// The search.
  public let query: MovieQuery
  /// The page, from 1.
  public let page: Int

  /// Creates a request for page `page` of the results of `query`, to the origin called `origin`.
  public init(origin: String, query: MovieQuery, page: Int) {
    self.origin = origin
    self.query = query
    self.page = page
  }

  /// The origin, the page and the search text.
  public var parameters: [(name: String, value: String)] {
    [("origin", origin), ("page", String(page)), ("query", query.text)]
  }
}
