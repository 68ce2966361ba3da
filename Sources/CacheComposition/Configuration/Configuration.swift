/// Everything that can be configured, with the value that counts: flag before environment before file before default.
public struct Configuration: Sendable {
  /// Which origins are asked where the configuration names none.
  public enum Environment: String, Sendable, CaseIterable {
    /// The bundled sample.
    case dev
    /// The public servers, before a release.
    case alpha
    /// The public servers.
    case real
  }

  /// Which entries go first when a limit of the cache is reached.
  public enum Eviction: String, Sendable, CaseIterable {
    /// Those that were last read the longest ago.
    case leastRecentlyUsed = "least-recently-used"
    /// Those that were read the fewest times.
    case leastFrequentlyUsed = "least-frequently-used"
    /// Those that were stored the longest ago.
    case leastRecentlyStored = "least-recently-stored"
    /// None but expired ones: where they do not make room enough, nothing more is stored.
    case none
  }

  /// How long entries count, and how many are kept.
  public struct Cache: Sendable, Hashable {
    /// How long an entry is fresh when its origin does not say.
    public let timeToLive: Duration
    /// How long a stale entry stands in for an origin that fails.
    public let staleIfError: Duration
    /// How long a stale entry is served while the origin is asked again.
    public let staleWhileRevalidate: Duration
    /// How many entries are kept at most, 1 or more.
    public let maxEntries: Int
    /// How many bytes of payload are kept at most, 1,024 or more.
    public let maxBytes: Int
    /// How many bytes of payload the answer of a URL may have to be kept. A larger one is passed on as it comes in.
    public let maxEntryBytes: Int
    /// Which entries go first when one of these is reached.
    public let eviction: Eviction
    /// Whether several users share the cache, as RFC 9111 means it.
    public let isShared: Bool
  }

  /// How requests are made; every kind of origin has it.
  public struct Transport: Sendable, Hashable {
    /// How long a request may take.
    public let timeout: Duration
    /// The largest answer that is accepted, in bytes.
    public let maxResponseBytes: Int
    /// How many requests may be under way at once, 1 to 64.
    public let maxConcurrentRequests: Int
    /// Headers that are sent with each request, in the order of the configuration.
    public let headers: [HeaderSetting]
    /// How servers are reached.
    public let network: Network
    /// What one command asks for beyond the configuration.
    public var demands = TransferDemands()
    /// Whether an answer of more than `maxResponseBytes` comes in as it is read. The time-out is then for each wait.
    public var isStreamed = false

    /// The limits of requests for URLs: 30 seconds for each wait, and `maxEntryBytes` held in memory.
    static func urls(maxEntryBytes: Int, network: Network, _ demands: TransferDemands) -> Transport {
      Transport(
        timeout: .seconds(30), maxResponseBytes: maxEntryBytes, maxConcurrentRequests: 4, headers: [],
        network: network.overridden(by: demands.network), demands: demands, isStreamed: true)
    }
  }

  /// How servers are reached; what is `nil` is left to the environment and the system.
  public struct Network: Sendable, Hashable {
    /// The URL of the proxy; an empty text for none.
    public var proxy: String?
    /// The path of a file of certificates (PEM): no others are trusted.
    public var authorityFile: String?
    /// The path of the certificate (PEM) by which servers may know the client.
    public var clientCertificate: String?
    /// The path of its private key; `nil` where it is in the same file.
    public var clientKey: String?

    /// The given settings.
    public init(
      proxy: String? = nil, authorityFile: String? = nil, clientCertificate: String? = nil, clientKey: String? = nil
    ) {
      self.proxy = proxy
      self.authorityFile = authorityFile
      self.clientCertificate = clientCertificate
      self.clientKey = clientKey
    }

    /// These settings, with those of `others` in their place where they are not `nil`.
    func overridden(by others: Network) -> Network {
      let hasCertificate = others.clientCertificate != nil
      return Network(
        proxy: others.proxy ?? proxy, authorityFile: others.authorityFile ?? authorityFile,
        clientCertificate: others.clientCertificate ?? clientCertificate,
        clientKey: hasCertificate ? others.clientKey : clientKey)
    }
  }

  /// Where cities come from.
  public struct CitiesOrigin: Sendable, Hashable {
    /// A kind of origin.
    public enum Kind: String, Sendable, CaseIterable {
      /// The bundled sample.
      case sample
      /// A server that answers like the sample.
      case http
      /// ProPublica's Nonprofit Explorer.
      case propublica
    }

    /// The kind of origin.
    public let kind: Kind
    /// The address of the server; never `nil` for kinds that ask one.
    public let baseURL: String?
    /// How requests are made.
    public let transport: Transport
  }

  /// Where movies and posters come from.
  public struct MoviesOrigin: Sendable, Hashable {
    /// A kind of origin.
    public enum Kind: String, Sendable, CaseIterable {
      /// The bundled sample.
      case sample
      /// The Movie Database.
      case tmdb
    }

    /// The kind of origin.
    public let kind: Kind
    /// The address of the server; never `nil` for kinds that ask one.
    public let baseURL: String?
    /// The address of the posters; never `nil` for kinds that ask a server.
    public let imagesBaseURL: String?
    /// The key of the server; `nil` where the configuration names none.
    public let apiKey: Secret?
    /// How requests are made.
    public let transport: Transport
  }

  /// The absolute path of the file that was read; `nil` where there was none.
  public let file: String?
  /// Why that file may be used; `own` where there was none.
  public let trust: ConfigurationTrust
  /// The absolute path of the folder in which stores live.
  public let home: String
  /// Where `home` comes from.
  public let homeSource: ConfigurationSource
  /// The name of the engine: one of those that were declared, or that of a loaded one.
  public let backend: String
  /// Which origins are asked where the configuration names none.
  public let environment: Environment
  /// The absolute paths of the folders in which plugins are looked for.
  public let pluginSearchPath: [String]
  /// How long entries count, and how many are kept.
  public let cache: Cache
  /// How many recent movie queries are kept, 1 or more.
  public let maxQueries: Int
  /// How servers are reached.
  public let network: Network
  /// Where cities come from.
  public let cities: CitiesOrigin
  /// Where movies and posters come from.
  public let movies: MoviesOrigin

  /// The engines that are named and not built in, whose libraries were loaded.
  public let loadedEngines: [LoadedEngine]

  let settings: ConfigurationSettings
}
