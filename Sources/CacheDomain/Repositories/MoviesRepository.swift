/// Where movies come from.
public protocol MoviesRepository: Sendable {
  /// Page `page` (from 1) of the movies that `query` finds, fetched as `options` say.
  func movies(_ query: MovieQuery, page: Int, options: FetchOptions) -> Snapshots<MoviesPage>
}
