internal import CacheData
public import CacheDomain
internal import SampleOrigin

/// Builds the movies feature: the search and the posters.
public struct MoviesDIContainer: Sendable {
  private let context: ResourceContext
  private let movieOrigin: any MovieOrigin
  private let posterOrigin: any PosterOrigin

  /// The container over what `context` has, with the configured origin.
  ///
  /// - Throws: `CacheError` if an address is not the address of a server.
  public init(_ context: ResourceContext) throws(CacheError) {
    self.context = context
    let settings = context.configuration.movies
    switch settings.kind {
    case .sample: (movieOrigin, posterOrigin) = (SampleMovieOrigin(), SamplePosterOrigin())
    case .tmdb:
      movieOrigin = TMDBMovieOrigin(
        try context.server(
          at: settings.baseURL ?? TMDBMovieOrigin.address, settings.transport, secret: settings.apiKey,
          credentials: OriginCredentials.tmdb))
      // The image server needs no key, and gets none.
      posterOrigin = TMDBPosterOrigin(
        try context.server(at: settings.imagesBaseURL ?? TMDBPosterOrigin.address, settings.transport))
    }
  }

  /// Searches movies, and remembers the query if the search succeeded.
  public func makeSearchMoviesUseCase() -> SearchMoviesUseCase {
    SearchMoviesUseCase(
      movies: makeMoviesRepository(), queries: MovieQueriesDIContainer(context).makeMovieQueriesRepository())
  }

  /// Fetches the poster of a movie.
  public func makeFetchPosterUseCase() -> FetchPosterUseCase {
    FetchPosterUseCase(repository: makePosterImagesRepository())
  }

  private func makeMoviesRepository() -> any MoviesRepository {
    DefaultMoviesRepository(
      storage: EngineMoviesResponseStorage(store: context.store), origin: movieOrigin, services: context.services)
  }

  private func makePosterImagesRepository() -> any PosterImagesRepository {
    DefaultPosterImagesRepository(
      storage: EnginePosterResponseStorage(store: context.store), origin: posterOrigin, services: context.services)
  }
}

extension AppDIContainer {
  /// The container of the movies feature over `store`.
  ///
  /// - Throws: `CacheError` if an address is not the address of a server.
  public func makeMoviesDIContainer(_ store: OpenStore) throws(CacheError) -> MoviesDIContainer {
    try MoviesDIContainer(context(store))
  }
}

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
