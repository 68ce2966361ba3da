internal import CacheData
public import CacheDomain
internal import ResponseStorage

/// Makes what the recent queries feature needs. It asks no origin.
public struct MovieQueriesDIContainer: Sendable {
  let store: EntryStore
  let maximumCount: Int

  /// Shows what was searched last.
  public func makeFetchRecentMovieQueriesUseCase() -> FetchRecentMovieQueriesUseCase {
    FetchRecentMovieQueriesUseCase(repository: makeMovieQueriesRepository())
  }

  func makeMovieQueriesRepository() -> any MovieQueriesRepository {
    DefaultMovieQueriesRepository(storage: EngineMovieQueriesStorage(store: store, maximumCount: maximumCount))
  }
}
