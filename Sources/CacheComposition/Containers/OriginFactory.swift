internal import CacheData
public import CacheDomain
internal import SampleOrigin

/// Makes the origins that the configuration names.
enum OriginFactory {
  static func makeCityOrigin(_ origin: Configuration.CitiesOrigin) throws(CacheError) -> any CityOrigin {
    switch origin.kind {
    case .sample: SampleCityOrigin()
    case .http, .propublica: throw unavailable(origin.kind.rawValue, key: "origin.cities.kind")
    }
  }

  static func makeMovieOrigin(_ origin: Configuration.MoviesOrigin) throws(CacheError) -> any MovieOrigin {
    switch origin.kind {
    case .sample: SampleMovieOrigin()
    case .tmdb: throw unavailable(origin.kind.rawValue, key: "origin.movies.kind")
    }
  }

  static func makePosterOrigin(_ origin: Configuration.MoviesOrigin) throws(CacheError) -> any PosterOrigin {
    switch origin.kind {
    case .sample: SamplePosterOrigin()
    case .tmdb: throw unavailable(origin.kind.rawValue, key: "origin.movies.kind")
    }
  }

  private static func unavailable(_ kind: String, key: String) -> CacheError {
    CacheError(
      .originUnavailable, "the origin '\(kind)' is not part of this version",
      hint: "set \"environment\" to \"dev\", or \"\(key)\" to \"sample\"")
  }
}

extension CacheError.Code {
  /// The configured origin is not part of this version.
  public static let originUnavailable = CacheError.Code(rawValue: "originUnavailable")
}
