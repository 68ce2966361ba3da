internal import CacheData
public import CacheDomain

/// Builds the recent queries feature. It asks no origin.
public struct MovieQueriesDIContainer: Sendable {
  private let context: ResourceContext

  /// The container over what `context` has.
  public init(_ context: ResourceContext) { self.context = context }

  /// Fetches the most recent searches.
  public func makeFetchRecentMovieQueriesUseCase() -> FetchRecentMovieQueriesUseCase {
    FetchRecentMovieQueriesUseCase(repository: makeMovieQueriesRepository())
  }

  func makeMovieQueriesRepository() -> any MovieQueriesRepository {
    DefaultMovieQueriesRepository(
      storage: EngineMovieQueriesStorage(store: context.store, maximumCount: context.configuration.maxQueries))
  }
}

extension AppDIContainer {
  /// The container of the recent queries feature over `store`.
  public func makeMovieQueriesDIContainer(_ store: OpenStore) -> MovieQueriesDIContainer {
    MovieQueriesDIContainer(context(store))
  }
}
