internal import CacheData

/// Where cities come from: the keys of `origin.cities`.
public struct CitiesSettings: ConfigurationSection, Hashable {
  /// A kind of origin.
  public enum Kind: String, Sendable, CaseIterable {
    /// The bundled sample.
    case sample
    /// A server that responds in the sample's format.
    case http
    /// ProPublica's Nonprofit Explorer.
    case propublica
  }

  /// "origin.cities".
  public static var path: String { "origin.cities" }

  /// The kind of origin.
  public let kind: Kind
  /// The address of the server; never `nil` for a kind that asks a server.
  public let baseURL: String?
  /// How requests are made.
  public let transport: Configuration.Transport

  /// Declares and reads the keys.
  public init(_ keys: inout SectionReader) {
    kind = keys.kind(default: .sample, outsideDevelopment: .propublica, help: "the source of cities")
    baseURL = keys.address(
      "baseURL", known: [(Kind.propublica, ProPublicaCityOrigin.address)], required: [.http],
      help: "the address of the server; kind propublica has a default")
    transport = keys.transport()
  }
}

/// Where movies and posters come from: the keys of `origin.movies`.
public struct MoviesSettings: ConfigurationSection, Hashable {
  /// A kind of origin.
  public enum Kind: String, Sendable, CaseIterable {
    /// The bundled sample.
    case sample
    /// The Movie Database.
    case tmdb
  }

  /// "origin.movies".
  public static var path: String { "origin.movies" }

  /// The kind of origin.
  public let kind: Kind
  /// The address of the server; never `nil` for a kind that asks a server.
  public let baseURL: String?
  /// The address of the poster server; never `nil` for a kind that asks a server.
  public let imagesBaseURL: String?
  /// The API key for the server; `nil` if the configuration names none.
  public let apiKey: Secret?
  /// How requests are made.
  public let transport: Configuration.Transport

  /// Declares and reads the keys.
  public init(_ keys: inout SectionReader) {
    kind = keys.kind(default: .sample, outsideDevelopment: .tmdb, help: "the source of movies")
    baseURL = keys.address(
      "baseURL", known: [(Kind.tmdb, TMDBMovieOrigin.address)],
      help: "the address of the server; kind tmdb has a default")
    imagesBaseURL = keys.address(
      "imagesBaseURL", known: [(Kind.tmdb, TMDBPosterOrigin.address)],
      help: "the address of the posters; kind tmdb has a default")
    apiKey = keys.secret("apiKey", help: "the API key of the server, for kind tmdb")
    transport = keys.transport()
  }
}

/// The keys of `queries`: the recent movie queries.
public struct MovieQueriesSettings: ConfigurationSection {
  /// "queries".
  public static var path: String { "queries" }

  /// The maximum number of recent movie queries, 1 or more.
  public let maxCount: Int

  /// Declares and reads the keys.
  public init(_ keys: inout SectionReader) {
    maxCount = keys.integer("maxCount", default: 10, in: 1...1_000, help: "the maximum number of recent movie queries")
  }
}

extension Configuration {
  /// Where cities come from.
  public var cities: CitiesSettings { section(CitiesSettings.self) }
  /// Where movies and posters come from.
  public var movies: MoviesSettings { section(MoviesSettings.self) }
}
