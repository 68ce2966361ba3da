public import CacheCore
internal import CacheData
public import CacheDomain
internal import CurlTransport
internal import FetchVocabulary
internal import SampleOrigin

/// The parts of the container of a resource: the store, the services of every fetch, and its servers.
public struct ResourceContext: Sendable {
  /// The open store.
  public let store: EntryStore
  /// The configuration, with the resource's section.
  public let configuration: Configuration
  /// The caching rules, the clock, and the fetches under way, for `fetch`.
  public let services: FetchServices
  /// The client's name for servers.
  let userAgent: String
  /// Makes the service that transfers an origin's requests, under its configured limits.
  let makeTransfer: @Sendable (Configuration.Transport) -> any DataTransferService

  /// The server at `address`, for an origin that asks one.
  ///
  /// Its requests carry the configured headers, and `credentials` made of the configured `secret`. A secret that is not
  /// set fails the first request, not this call: the cache still serves the responses stored without it.
  ///
  /// - Throws: `CacheError` if `address` is not the address of a server.
  public func server(
    at address: String, _ transport: Configuration.Transport, secret: Secret? = nil,
    credentials: (String) -> OriginCredentials = OriginCredentials.bearerToken
  ) throws(CacheError) -> OriginServer {
    let files = NetworkFiles(transport.network, of: configuration)
    var problem: CacheError?
    func reveal(_ secret: Secret) -> String? {
      do throws(CacheError) { return try secret.fieldValue() } catch {
        problem = error
        return nil
      }
    }
    var fields: HTTP.Fields = ["User-Agent": userAgent]
    var secretFields: HTTP.Fields = [:]
    for header in transport.headers {
      switch header.value {
      case .text(let text): fields[header.name] = text
      case .secret(let secret): if let value = reveal(secret) { secretFields.append(header.name, value) }
      }
    }
    let key = secret.flatMap { reveal($0) }
    let transfer: any DataTransferService =
      if let problem = problem ?? files.problem {
        UnavailableTransfer(reason: problem)
      } else {
        DecodingTransferService(
          makeTransfer(transport), maxResponseBytes: transport.maxResponseBytes, settings: transport.settings)
      }
    return OriginServer(
      try BaseURL(address), fields: fields, secretFields: secretFields,
      credentials: key.map(credentials) ?? OriginCredentials.none,
      clientIdentity: files.clientIdentity, transfer: transfer)
  }
}

extension Secret {
  /// The value, for a header field.
  fileprivate func fieldValue() throws(CacheError) -> String {
    let value: String
    do throws(ConfigurationError) { value = try reveal() } catch {
      throw CacheError(.originUnavailable, error.message, hint: error.hint)
    }
    guard HTTPSyntax.isFieldValue(value) else {
      throw CacheError(
        .originUnavailable, "the value of the environment variable \(variable) has a control character",
        hint: "set \(variable) to a value of one line")
    }
    return value
  }
}

/// Takes the place of a transfer that cannot be made: every request fails for the same reason, without leaving the process.
private struct UnavailableTransfer: DataTransferService {
  let reason: CacheError

  func transfer(_ request: HTTP.Request) async throws(CacheError) -> HTTP.Response { throw reason }
}

/// Makes the features, each over the configured origin. The configuration has an address for each kind of origin that asks
/// a server.
extension ResourceContext {
  /// Fetches a page of cities in a given order.
  ///
  /// - Throws: `CacheError` if the address is not the address of a server.
  public func makeFetchCitiesUseCase() throws(CacheError) -> FetchCitiesUseCase {
    let settings = configuration.cities
    let origin: any CityOrigin =
      switch settings.kind {
      case .sample: SampleCityOrigin()
      case .propublica: ProPublicaCityOrigin(try server(at: settings.baseURL ?? "", settings.transport))
      case .http: HTTPCityOrigin(try server(at: settings.baseURL ?? "", settings.transport))
      }
    return FetchCitiesUseCase(
      repository: DefaultCityRepository(
        storage: EngineCityResponseStorage(store: store), origin: origin, services: services))
  }

  /// Searches movies, and remembers the query if the search succeeded.
  ///
  /// - Throws: `CacheError` if the address is not the address of a server.
  public func makeSearchMoviesUseCase() throws(CacheError) -> SearchMoviesUseCase {
    let settings = configuration.movies
    let origin: any MovieOrigin =
      switch settings.kind {
      case .sample: SampleMovieOrigin()
      case .tmdb:
        TMDBMovieOrigin(
          try server(
            at: settings.baseURL ?? "", settings.transport, secret: settings.apiKey,
            credentials: OriginCredentials.tmdb))
      }
    return SearchMoviesUseCase(
      movies: DefaultMoviesRepository(
        storage: EngineMoviesResponseStorage(store: store), origin: origin, services: services),
      queries: makeMovieQueriesRepository())
  }

  /// The posters of movies.
  ///
  /// - Throws: `CacheError` if the address is not the address of a server.
  public func makePosterImagesRepository() throws(CacheError) -> any PosterImagesRepository {
    let settings = configuration.movies
    let origin: any PosterOrigin =
      switch settings.kind {
      case .sample: SamplePosterOrigin()
      // The image server needs no key, and gets none.
      case .tmdb: TMDBPosterOrigin(try server(at: settings.imagesBaseURL ?? "", settings.transport))
      }
    return DefaultPosterImagesRepository(
      storage: EnginePosterResponseStorage(store: store), origin: origin, services: services)
  }

  /// Fetches the most recent searches.
  public func makeFetchRecentMovieQueriesUseCase() -> FetchRecentMovieQueriesUseCase {
    FetchRecentMovieQueriesUseCase(repository: makeMovieQueriesRepository())
  }

  private func makeMovieQueriesRepository() -> any MovieQueriesRepository {
    DefaultMovieQueriesRepository(
      store: store, maximumCount: configuration.section(MovieQueriesSettings.self).maxCount)
  }

  /// The responses of URLs, with transfers as `demands` say.
  func makeURLRepository(_ demands: TransferDemands = TransferDemands()) -> URLRepository {
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
