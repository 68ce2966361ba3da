internal import CacheData
public import CacheDomain
internal import ResponseStorage

/// Builds the recent queries feature. It asks no origin.
public struct MovieQueriesDIContainer: Sendable {
  let store: EntryStore
  let maximumCount: Int

  /// Fetches the most recent searches.
  public func makeFetchRecentMovieQueriesUseCase() -> FetchRecentMovieQueriesUseCase {
    FetchRecentMovieQueriesUseCase(repository: makeMovieQueriesRepository())
  }

  func makeMovieQueriesRepository() -> any MovieQueriesRepository {
    DefaultMovieQueriesRepository(storage: EngineMovieQueriesStorage(store: store, maximumCount: maximumCount))
  }
}
