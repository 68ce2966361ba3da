/// Searches movies, and remembers the query if the search succeeded.
public struct SearchMoviesUseCase: Sendable {
  private let movies: any MoviesRepository
  private let queries: any MovieQueriesRepository

  /// The use case over the two repositories.
  public init(movies: any MoviesRepository, queries: any MovieQueriesRepository) {
    self.movies = movies
    self.queries = queries
  }

  /// Page `page` (from 1) of the movies that `query` finds, fetched as `options` say.
  ///
  /// Beyond the last page there is the error `notFound`. The query is saved before the first snapshot is given out. If
  /// it cannot be saved, that is a warning on that snapshot: the movies are what was asked for.
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
        snapshot.warnings.append(error)
      }
      return snapshot
    }
  }
}
