/// A source of movies.
public protocol MoviesRepository: Sendable {
  /// Fetches page `page` (from 1) of the movies that match `query`, as `options` say.
  func movies(_ query: MovieQuery, page: Int, options: FetchOptions) -> Snapshots<MoviesPage>
}
