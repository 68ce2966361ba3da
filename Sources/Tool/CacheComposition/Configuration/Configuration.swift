public import ResponseStorage
public import StorageSPI

/// The whole configuration with its effective values: a flag overrides the environment, which overrides the file, which
/// overrides the default.
public struct Configuration: Sendable {
  /// The origins to ask if the configuration names none.
  public enum Environment: String, Sendable, CaseIterable {
    /// The bundled sample.
    case dev
    /// The public servers, before a release.
    case alpha
    /// The public servers.
    case real
  }

  /// How long entries are used, and how many are kept.
  public struct Cache: Sendable, Hashable {
    /// How long an entry is fresh if its origin does not say.
    public let timeToLive: Duration
    /// How long a stale entry stands in for an origin that fails.
    public let staleIfError: Duration
    /// How long a stale entry is served while the origin is asked again.
    public let staleWhileRevalidate: Duration
    /// The maximum number of entries, 1 or more.
    public let maxEntries: Int
    /// The maximum number of payload bytes in all, 1,024 or more.
    public let maxBytes: Int
    /// The maximum number of payload bytes of a stored URL answer. A larger answer is passed on as it comes in.
    public let maxEntryBytes: Int
    /// Which entries are evicted first when a limit is reached.
    public let eviction: EvictionPolicy
    /// Whether this is a shared cache as defined by RFC 9111.
    public let isShared: Bool
  }

  /// How requests are made, for every kind of origin.
  public struct Transport: Sendable, Hashable {
    /// The time limit of a request.
    public let timeout: Duration
    /// The size limit of an answer, in bytes.
    public let maxResponseBytes: Int
    /// The maximum number of concurrent requests, 1 to 64.
    public let maxConcurrentRequests: Int
    /// The headers to send with each request, in the order of the configuration.
    public let headers: [HeaderSetting]
    /// How to reach servers.
    public let network: Network
    /// What the command asks for beyond the configuration.
    public var demands = TransferDemands()
    /// Whether an answer of more than `maxResponseBytes` is streamed as it is read. The time limit then applies to each
    /// wait.
    public var isStreamed = false

    /// The limits of URL requests: 30 seconds for each wait, or the whole of a longer `maxTime`, since its user chose to
    /// wait that long; and at most `maxEntryBytes` held in memory.
    static func urls(maxEntryBytes: Int, network: Network, _ demands: TransferDemands) -> Transport {
      Transport(
        timeout: max(.seconds(30), demands.maxTime ?? .zero), maxResponseBytes: maxEntryBytes,
        maxConcurrentRequests: 4, headers: [], network: network.overridden(by: demands.network), demands: demands,
        isStreamed: true)
    }
  }

  /// How to reach servers; `nil` leaves a setting to the environment and the system.
  public struct Network: Sendable, Hashable {
    /// The URL of the proxy; empty for no proxy.
    public var proxy: String?
    /// The path of a file of certificates (PEM): no other authorities are trusted.
    public var authorityFile: String?
    /// The path of the client certificate (PEM).
    public var clientCertificate: String?
    /// The path of its private key; `nil` if it is in the same file.
    public var clientKey: String?

    /// The settings; each defaults to `nil`.
    public init(
      proxy: String? = nil, authorityFile: String? = nil, clientCertificate: String? = nil, clientKey: String? = nil
    ) {
      self.proxy = proxy
      self.authorityFile = authorityFile
      self.clientCertificate = clientCertificate
      self.clientKey = clientKey
    }

    /// These settings, overridden by those of `others` that are not `nil`.
    func overridden(by others: Network) -> Network {
      let hasCertificate = others.clientCertificate != nil
      return Network(
        proxy: others.proxy ?? proxy, authorityFile: others.authorityFile ?? authorityFile,
        clientCertificate: others.clientCertificate ?? clientCertificate,
        clientKey: hasCertificate ? others.clientKey : clientKey)
    }
  }

  /// The absolute path of the file in use; `nil` if there is none.
  public let file: String?
  /// Why that file may be used; `own` if there is none.
  public let trust: ConfigurationTrust
  /// The absolute path of the folder for stores.
  public let home: String
  /// Where `home` comes from.
  public let homeSource: ConfigurationSource
  /// The name of the engine, which is declared or loaded.
  public let backend: String
  /// The origins to ask if the configuration names none.
  public let environment: Environment
  /// The absolute paths of the folders to search for plugins.
  public let pluginSearchPath: [String]
  /// How long entries are used, and how many are kept.
  public let cache: Cache
  /// How to reach servers.
  public let network: Network

  /// The named engines that are not built in, with their libraries loaded.
  public let loadedEngines: [LoadedEngine]

  let settings: ConfigurationSettings

  init(
    _ document: ConfigurationDocument?, home: (path: String, source: ConfigurationSource),
    _ settings: ConfigurationSettings, loaded engines: [LoadedEngine]
  ) {
    file = document?.path
    trust = document?.trust ?? .own
    self.home = home.path
    homeSource = home.source
    self.settings = settings
    loadedEngines = engines
    let general = settings.section(General.self)
    (backend, environment) = (EngineName.name(of: general.backend), general.environment)
    pluginSearchPath = settings.section(Plugins.self).searchPath
    cache = settings.section(Cache.self)
    network = settings.section(Network.self)
  }

  /// The values of `section`. A section that the loader was not given has its defaults. Cost: it reads the values anew.
  public func section<Section: ConfigurationSection>(_ section: Section.Type) -> Section { settings.section(section) }
}

extension Configuration {
  /// The option values of `engine`, by option, ready for `EngineConfiguration`; empty if no such engine was declared.
  /// Paths are absolute; a secret whose variable is not set has no value. Secrets are the plain values: do not show
  /// them, show `entries`.
  public func options(of engine: String) -> [String: OptionValue] {
    var values: [String: OptionValue] = [:]
    for option in settings.table.engines.first(where: { $0.name == engine })?.options ?? [] {
      switch settings[ConfigurationKey.path(of: option.name, engine)]?.value {
      case .option(let value): values[option.name] = value
      case .secret(let secret): values[option.name] = secret.value.map(OptionValue.text)
      case .list, .headers, nil: break
      }
    }
    return values
  }

  /// The path of the configured engine's store; `nil` if it has none.
  public var storePath: String? { storePath(of: backend) }

  /// The path of the store of the engine called `backend`; `nil` if it has none.
  public func storePath(of backend: String) -> String? {
    guard case .text(let path)? = options(of: backend)["path"] else { return nil }
    return path
  }
}
