internal import CacheData
public import CacheDomain
internal import ResponseStorage

/// Builds the movies feature: the search and the posters.
public struct MoviesDIContainer: Sendable {
  let store: EntryStore
  let queries: MovieQueriesDIContainer
  let movieOrigin: any MovieOrigin
  let posterOrigin: any PosterOrigin
  let services: FetchServices

  /// Searches movies, and remembers the query if the search succeeded.
  public func makeSearchMoviesUseCase() -> SearchMoviesUseCase {
    SearchMoviesUseCase(movies: makeMoviesRepository(), queries: queries.makeMovieQueriesRepository())
  }

  /// Fetches the poster of a movie.
  public func makeFetchPosterUseCase() -> FetchPosterUseCase {
    FetchPosterUseCase(repository: makePosterImagesRepository())
  }

  private func makeMoviesRepository() -> any MoviesRepository {
    DefaultMoviesRepository(
      storage: EngineMoviesResponseStorage(store: store), origin: movieOrigin, services: services)
  }

  private func makePosterImagesRepository() -> any PosterImagesRepository {
    DefaultPosterImagesRepository(
      storage: EnginePosterResponseStorage(store: store), origin: posterOrigin, services: services)
  }
}
