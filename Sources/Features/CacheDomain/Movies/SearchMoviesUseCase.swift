/// A source of movies.
public protocol MoviesRepository: Sendable {
  /// Fetches page `page` (from 1) of the movies that match `query`, as `options` say.
  func movies(_ query: MovieQuery, page: Int, options: FetchOptions) -> Snapshots<MoviesPage>
}

/// Searches movies, and remembers the query if the search succeeded.
public struct SearchMoviesUseCase: Sendable {
  private let movies: any MoviesRepository
  private let queries: any MovieQueriesRepository

  /// Creates a use case over the two repositories.
  public init(movies: any MoviesRepository, queries: any MovieQueriesRepository) {
    self.movies = movies
    self.queries = queries
  }

  /// Fetches page `page` (from 1) of the movies that match `query`, as `options` say.
  ///
  /// Throws `notFound` beyond the last page. The query is saved before the first snapshot is returned. If saving fails,
  /// that snapshot gets a warning, unless it has one for the same reason: the movies are what the user asked for.
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
        snapshot.addWarning(unsaved: error)
      }
      return snapshot
    }
  }
}

extension Snapshot<MoviesPage> {
  /// Says that the query was not saved because of `error`, unless that has kept the movies from being stored too.
  fileprivate mutating func addWarning(unsaved error: CacheError) {
    if !entry.isStored, warnings.contains(where: { $0.message == error.message }) { return }
    warnings.append(
      CacheError(
        error.code, "the query was not saved among the recent ones: \(error.message)", hint: error.hint, key: error.key,
        cause: error.cause))
  }
}
