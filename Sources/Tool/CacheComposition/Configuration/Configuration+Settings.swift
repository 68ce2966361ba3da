internal import StorageSPI

/// Builds the typed values from the settings.
extension Configuration {
  init(
    _ document: ConfigurationDocument?, home: (path: String, source: ConfigurationSource),
    _ settings: ConfigurationSettings,
    loaded engines: [LoadedEngine]
  ) throws(ConfigurationError) {
    file = document?.path
    trust = document?.trust ?? .own
    self.home = home.path
    homeSource = home.source
    self.settings = settings
    loadedEngines = engines
    backend = EngineName.name(of: try settings.text(ConfigurationKey.engine))
    environment = try settings.choice("environment")
    pluginSearchPath = settings.list(ConfigurationKey.searchPath)
    cache = try Cache(settings)
    maxQueries = try settings.integer("queries.maxCount")
    network = Network(settings)
    cities = try CitiesOrigin(settings)
    movies = try MoviesOrigin(settings)
  }
}

extension Configuration.Cache {
  fileprivate init(_ settings: ConfigurationSettings) throws(ConfigurationError) {
    timeToLive = try settings.duration("cache.timeToLive")
    staleIfError = try settings.duration("cache.staleIfError")
    staleWhileRevalidate = try settings.duration("cache.staleWhileRevalidate")
    maxEntries = try settings.integer("cache.maxEntries")
    maxBytes = try settings.integer("cache.maxBytes")
    maxEntryBytes = try settings.integer("cache.maxEntryBytes")
    eviction = try settings.choice("cache.eviction")
    isShared = try settings.boolean("cache.shared")
  }
}

extension Configuration.Transport {
  fileprivate init(_ settings: ConfigurationSettings, _ origin: String) throws(ConfigurationError) {
    timeout = try settings.duration(origin + ".timeout")
    maxResponseBytes = try settings.integer(origin + ".maxResponseBytes")
    maxConcurrentRequests = try settings.integer(origin + ".maxConcurrentRequests")
    headers = settings.headers(origin + ".headers")
    network = Configuration.Network(settings)
  }
}

extension Configuration.Network {
  fileprivate init(_ settings: ConfigurationSettings) {
    self.init(
      proxy: settings.optionalText("network.proxy"), authorityFile: settings.optionalText("network.authorityFile"),
      clientCertificate: settings.optionalText("network.clientCertificate"),
      clientKey: settings.optionalText("network.clientKey"))
  }
}

extension Configuration.CitiesOrigin {
  fileprivate init(_ settings: ConfigurationSettings) throws(ConfigurationError) {
    kind = try settings.choice("origin.cities.kind")
    baseURL = settings.optionalText("origin.cities.baseURL")
    transport = try Configuration.Transport(settings, "origin.cities")
  }
}

extension Configuration.MoviesOrigin {
  fileprivate init(_ settings: ConfigurationSettings) throws(ConfigurationError) {
    kind = try settings.choice("origin.movies.kind")
    baseURL = settings.optionalText("origin.movies.baseURL")
    imagesBaseURL = settings.optionalText("origin.movies.imagesBaseURL")
    apiKey = settings.secret("origin.movies.apiKey")
    transport = try Configuration.Transport(settings, "origin.movies")
  }
}

extension ConfigurationSettings {
  fileprivate func text(_ path: String) throws(ConfigurationError) -> String {
    guard let text = optionalText(path) else { throw missing(path) }
    return text
  }

  fileprivate func integer(_ path: String) throws(ConfigurationError) -> Int {
    guard case .option(.integer(let number))? = self[path]?.value else { throw missing(path) }
    return Int(number)
  }

  fileprivate func boolean(_ path: String) throws(ConfigurationError) -> Bool {
    guard case .option(.boolean(let flag))? = self[path]?.value else { throw missing(path) }
    return flag
  }

  fileprivate func duration(_ path: String) throws(ConfigurationError) -> Duration {
    .milliseconds(try integer(path))
  }

  fileprivate func choice<Choice: RawRepresentable>(
    _ path: String
  ) throws(ConfigurationError) -> Choice where Choice.RawValue == String {
    guard let choice = Choice(rawValue: try text(path)) else { throw missing(path) }
    return choice
  }

  func list(_ path: String) -> [String] {
    guard case .list(let texts)? = self[path]?.value else { return [] }
    return texts
  }

  fileprivate func headers(_ path: String) -> [HeaderSetting] {
    guard case .headers(let headers)? = self[path]?.value else { return [] }
    return headers
  }

  fileprivate func secret(_ path: String) -> Secret? {
    guard case .secret(let secret)? = self[path]?.value else { return nil }
    return secret
  }

  private func missing(_ path: String) -> ConfigurationError {
    ConfigurationError(.missing, "'\(path)' has no value", hint: "set it in the configuration file")
  }
}
