internal import StorageSPI

/// The table of all keys.
extension ConfigurationKey {
  /// All keys, including those of `engines`, in the order of display.
  ///
  /// Each process needs the table once, at its start. So the table is not kept in globals, its defaults are numbers,
  /// and its paths are plain strings: parsing or assembling them took longer than everything else.
  static func all(_ engines: [EngineDeclaration]) -> [ConfigurationKey] {
    var keys = general(engines)
    keys.reserveCapacity(48)
    for engine in engines {
      for option in engine.options { keys.append(Self(option, of: engine.name)) }
    }
    keys += caching
    keys += network
    keys += citiesOrigin
    keys += moviesOrigin
    return keys
  }

  private static func general(_ engines: [EngineDeclaration]) -> [ConfigurationKey] {
    [
      Self(
        engine, .backend(engines.map(\.name)), default: .text("sqlite"), safety: .builtInEngine,
        help: "the storage engine", variable: "CACHECTL_BACKEND"),
      Self(
        "environment", .option(.choice(Configuration.Environment.allCases.map(\.rawValue))),
        default: .text(Configuration.Environment.dev.rawValue), safety: .nothing,
        help: "which origins are asked by default", variable: "CACHECTL_ENVIRONMENT"),
    ]
  }

  private static var caching: [ConfigurationKey] {
    [
      Self(
        searchPath, .paths, default: .list(["~/.local/lib/cachectl/plugins"]), safety: .nothing,
        help: "the folders in which plugins are looked for", variable: "CACHECTL_PLUGIN_PATH"),
      duration("cache.timeToLive", hour, help: "how long an entry is fresh when its origin does not say"),
      duration("cache.staleIfError", 7 * 24 * hour, help: "how long a stale entry stands in for an origin that fails"),
      duration(
        "cache.staleWhileRevalidate", 0, help: "how long a stale entry is served while the origin is asked again"),
      Self(
        "cache.maxEntries", .option(.integer(1...1_000_000_000)), default: .integer(100_000), safety: .nothing,
        help: "how many entries are kept at most"),
      Self(
        "cache.maxBytes", .option(.size(1_024...(1 << 50))), default: .integer(1 << 30), safety: .nothing,
        help: "how many bytes of payload are kept at most"),
      Self(
        "cache.maxEntryBytes", .option(.size(1_024...(1 << 30))), default: .integer(16 << 20), safety: .upToDefault,
        help: "how many bytes the answer of a URL may have to be kept"),
      choice(
        "cache.eviction", of: Configuration.Eviction.leastRecentlyUsed, safety: .anything,
        help: "which entries go first when a limit is reached"),
      Self(
        "cache.shared", .option(.boolean), default: .option(.boolean(false)), safety: .anything,
        help: "whether several users share the cache, as RFC 9111 means it"),
      Self(
        "queries.maxCount", .option(.integer(1...1_000)), default: .integer(10), safety: .nothing,
        help: "how many recent movie queries are kept"),
    ]
  }

  private static var network: [ConfigurationKey] {
    [
      Self(
        "network.proxy", .proxy, safety: .nothing,
        help: "the address of the proxy, such as http://proxy:3128 or socks5h://proxy:1080, or none where it is empty; "
          + "without it the environment names one"),
      Self(
        "network.authorityFile", .option(.path), safety: .nothing,
        help: "a file of certificates (PEM) to trust in place of the system's"),
      Self(
        "network.clientCertificate", .option(.path), safety: .nothing,
        help: "a file with the certificate (PEM) that is shown to servers that ask for one"),
      Self(
        "network.clientKey", .option(.path), safety: .nothing,
        help: "the file with its private key, where that is another one"),
    ]
  }

  private static var citiesOrigin: [ConfigurationKey] {
    [
      choice(
        "origin.cities.kind", of: Configuration.CitiesOrigin.Kind.sample, safety: .nothing,
        help: "where cities come from"),
      Self(
        "origin.cities.baseURL", .url, safety: .nothing,
        help: "the address of the server; kind propublica knows its own"),
      timeout("origin.cities.timeout"), maxResponseBytes("origin.cities.maxResponseBytes"),
      maxConcurrentRequests("origin.cities.maxConcurrentRequests"), headers("origin.cities.headers"),
    ]
  }

  private static var moviesOrigin: [ConfigurationKey] {
    [
      choice(
        "origin.movies.kind", of: Configuration.MoviesOrigin.Kind.sample, safety: .nothing,
        help: "where movies come from"),
      Self("origin.movies.baseURL", .url, safety: .nothing, help: "the address of the server; kind tmdb knows its own"),
      Self(
        "origin.movies.imagesBaseURL", .url, safety: .nothing,
        help: "the address of the posters; kind tmdb knows its own"),
      Self("origin.movies.apiKey", .secret, safety: .nothing, help: "the key of the server, for kind tmdb"),
      timeout("origin.movies.timeout"), maxResponseBytes("origin.movies.maxResponseBytes"),
      maxConcurrentRequests("origin.movies.maxConcurrentRequests"), headers("origin.movies.headers"),
    ]
  }

  private static func timeout(_ path: String) -> ConfigurationKey {
    Self(
      path, .option(.duration(1...hour)), default: .integer(30_000), safety: .upToDefault,
      help: "how long a request may take")
  }

  private static func maxResponseBytes(_ path: String) -> ConfigurationKey {
    Self(
      path, .option(.size(1...(1 << 30))), default: .integer(16 << 20), safety: .upToDefault,
      help: "the largest answer that is accepted")
  }

  private static func maxConcurrentRequests(_ path: String) -> ConfigurationKey {
    Self(
      path, .option(.integer(1...64)), default: .integer(4), safety: .upToDefault,
      help: "how many requests may be under way at once")
  }

  private static func headers(_ path: String) -> ConfigurationKey {
    Self(path, .headers, default: .headers([]), safety: .nothing, help: "headers that are sent with each request")
  }

  /// An hour in milliseconds.
  private static var hour: Int64 { 3_600_000 }

  /// A duration in milliseconds, of at most ten years of 365 days.
  private static func duration(_ path: String, _ length: Int64, help: String) -> ConfigurationKey {
    Self(
      path, .option(.duration(0...(3_650 * 24 * hour))), default: .integer(length), safety: .upToDefault,
      help: help)
  }

  private static func choice<Choice: RawRepresentable & CaseIterable>(
    _ path: String, of defaultChoice: Choice, safety: ConfigurationSafety, help: String
  ) -> ConfigurationKey where Choice.RawValue == String {
    Self(
      path, .option(.choice(Choice.allCases.map(\.rawValue))), default: .text(defaultChoice.rawValue),
      safety: safety, help: help)
  }
}
