public import CacheData
public import CacheDomain
internal import CurlTransport
internal import CacheCore
internal import SampleOrigin

/// Makes the features, each over the configured origin.
extension ResourceContext {
  /// Fetches a page of cities in a given order.
  ///
  /// - Throws: `CacheError` if the configured origin has no address.
  public func makeFetchCitiesUseCase() throws(CacheError) -> FetchCitiesUseCase {
    FetchCitiesUseCase(
      repository: DefaultCityRepository(
        storage: EngineCityResponseStorage(store: store), origin: try makeCityOrigin(), services: services))
  }

  private func makeCityOrigin() throws(CacheError) -> any CityOrigin {
    let settings = configuration.cities
    switch settings.kind {
    case .sample: return SampleCityOrigin()
    case .propublica:
      let address = settings.baseURL ?? ProPublicaCityOrigin.address
      return ProPublicaCityOrigin(try server(at: address, settings.transport))
    case .http:
      guard let address = settings.baseURL else {
        throw CacheError(.originUnavailable, "'origin.cities.baseURL' has no value", hint: "give it an address")
      }
      return HTTPCityOrigin(try server(at: address, settings.transport))
    }
  }

  /// Searches movies, and remembers the query if the search succeeded.
  ///
  /// - Throws: `CacheError` if the address is not the address of a server.
  public func makeSearchMoviesUseCase() throws(CacheError) -> SearchMoviesUseCase {
    SearchMoviesUseCase(
      movies: DefaultMoviesRepository(
        storage: EngineMoviesResponseStorage(store: store), origin: try makeMovieOrigin(), services: services),
      queries: makeMovieQueriesRepository())
  }

  private func makeMovieOrigin() throws(CacheError) -> any MovieOrigin {
    let settings = configuration.movies
    switch settings.kind {
    case .sample: return SampleMovieOrigin()
    case .tmdb:
      return TMDBMovieOrigin(
        try server(
          at: settings.baseURL ?? TMDBMovieOrigin.address, settings.transport, secret: settings.apiKey,
          credentials: OriginCredentials.tmdb))
    }
  }

  /// The posters of movies.
  ///
  /// - Throws: `CacheError` if the address is not the address of a server.
  public func makePosterImagesRepository() throws(CacheError) -> any PosterImagesRepository {
    DefaultPosterImagesRepository(
      storage: EnginePosterResponseStorage(store: store), origin: try makePosterOrigin(), services: services)
  }

  private func makePosterOrigin() throws(CacheError) -> any PosterOrigin {
    let settings = configuration.movies
    switch settings.kind {
    case .sample: return SamplePosterOrigin()
    case .tmdb:
      // The image server needs no key, and gets none.
      return TMDBPosterOrigin(
        try server(at: settings.imagesBaseURL ?? TMDBPosterOrigin.address, settings.transport))
    }
  }

  /// Fetches the most recent searches.
  public func makeFetchRecentMovieQueriesUseCase() -> FetchRecentMovieQueriesUseCase {
    FetchRecentMovieQueriesUseCase(repository: makeMovieQueriesRepository())
  }

  private func makeMovieQueriesRepository() -> any MovieQueriesRepository {
    DefaultMovieQueriesRepository(store: store, maximumCount: configuration.maxQueries)
  }

  /// The responses of URLs, with transfers as `demands` say.
  public func makeURLRepository(_ demands: TransferDemands = TransferDemands()) -> URLRepository {
    let maxEntryBytes = configuration.cache.maxEntryBytes
    let transport = Configuration.Transport.urls(
      maxEntryBytes: maxEntryBytes, network: configuration.network, demands)
    let files = NetworkFiles(transport.network, of: configuration)
    var services = self.services
    services.rules.isInsecure = demands.isInsecure
    let cache = HTTPCache(
      responses: URLResponses(store: store),
      transfer: files.problem.map { UnavailableTransfer(reason: $0) } ?? makeTransfer(transport),
      services: services, name: "cachectl", maxContentBytes: maxEntryBytes)
    return URLRepository(
      source: demands.isCompressed ? DecodingResponseSource(cache, limit: maxEntryBytes) : cache,
      userAgent: userAgent, clientIdentity: files.clientIdentity)
  }
}
