internal import CacheData
public import CacheDomain
internal import CacheNetwork
internal import SampleOrigin

/// Makes the origins that the configuration names.
struct OriginFactory: Sendable {
  /// The client's name for servers.
  let userAgent: String
  /// Makes the service that transfers an origin's requests, under its configured limits.
  let makeTransfer: @Sendable (Configuration.Transport) -> any DataTransferService

  func makeCityOrigin(_ origin: Configuration.CitiesOrigin) throws(CacheError) -> any CityOrigin {
    switch origin.kind {
    case .sample: return SampleCityOrigin()
    case .propublica:
      let url = origin.baseURL ?? ProPublicaCityOrigin.address
      return ProPublicaCityOrigin(try makeServer(url, OriginSecrets(origin.transport.headers), origin.transport))
    case .http:
      guard let url = origin.baseURL else {
        throw CacheError(.originUnavailable, "'origin.cities.baseURL' has no value", hint: "give it an address")
      }
      return HTTPCityOrigin(try makeServer(url, OriginSecrets(origin.transport.headers), origin.transport))
    }
  }

  func makeMovieOrigin(_ origin: Configuration.MoviesOrigin) throws(CacheError) -> any MovieOrigin {
    switch origin.kind {
    case .sample: return SampleMovieOrigin()
    case .tmdb:
      let secrets = OriginSecrets(origin.transport.headers, apiKey: origin.apiKey)
      return TMDBMovieOrigin(try makeServer(origin.baseURL ?? TMDBMovieOrigin.address, secrets, origin.transport))
    }
  }

  /// The image server needs no key, and gets none.
  func makePosterOrigin(_ origin: Configuration.MoviesOrigin) throws(CacheError) -> any PosterOrigin {
    switch origin.kind {
    case .sample: return SamplePosterOrigin()
    case .tmdb:
      let url = origin.imagesBaseURL ?? TMDBPosterOrigin.address
      return TMDBPosterOrigin(try makeServer(url, OriginSecrets(origin.transport.headers), origin.transport))
    }
  }

  /// A missing secret matters only once the server is asked: the cache answers without it.
  private func makeServer(
    _ url: String, _ secrets: OriginSecrets, _ transport: Configuration.Transport
  ) throws(CacheError) -> OriginServer {
    let files = NetworkFiles(transport.network)
    let transfer: any DataTransferService =
      if let problem = secrets.problem ?? files.problem {
        UnavailableTransfer(reason: problem)
      } else {
        DecodingTransferService(makeTransfer(transport), maxResponseBytes: transport.maxResponseBytes)
      }
    var fields: HTTPFields = ["User-Agent": userAgent]
    for line in secrets.plainFields.lines { fields[line.name] = line.value }
    return OriginServer(
      try BaseURL(url), fields: fields, secretFields: secrets.secretFields, credentials: secrets.credentials,
      clientIdentity: files.clientIdentity, transfer: transfer)
  }
}

extension CacheError.Code {
  /// The configured origin cannot be asked, because a setting is missing.
  public static let originUnavailable = CacheError.Code(rawValue: "originUnavailable")
}
