internal import StorageSPI

/// The table of all keys but those of the engines.
extension ConfigurationKey {
  /// All keys, those of `engines` among them, in the order in which they are shown.
  static func all(_ engines: [EngineDeclaration]) -> [ConfigurationKey] {
    general(engines.map(\.name)) + engines.flatMap { engine in engine.options.map { Self($0, of: engine.name) } }
      + plugins + cache + queries + citiesOrigin + moviesOrigin
  }

  private static func general(_ engines: [String]) -> [ConfigurationKey] {
    [
      Self(
        "backend", .option(.choice(engines)), default: .text("sqlite"), help: "the storage engine",
        variable: "CACHECTL_BACKEND", flag: "--backend"),
      choice("environment", of: Configuration.Environment.dev, help: "which origins are asked unless told otherwise"),
    ]
  }

  private static let plugins = [
    Self(
      "plugins.searchPath", .paths, default: .list(["~/.local/lib/cachectl/plugins"]),
      help: "the folders in which plugins are looked for", variable: "CACHECTL_PLUGIN_PATH")
  ]

  private static let cache = [
    duration("cache.timeToLive", "1h", help: "how long an entry is fresh when its origin does not say"),
    duration("cache.staleIfError", "7d", help: "how long a stale entry stands in for an origin that fails"),
    duration(
      "cache.staleWhileRevalidate", "0s", help: "how long a stale entry is served while the origin is asked again"),
    Self(
      "cache.maxEntries", .option(.integer(1...1_000_000_000)), default: .integer(100_000),
      help: "how many entries are kept at most"),
    Self(
      "cache.maxBytes", .option(.size(1_024...(1 << 50))), default: .integer(1 << 30),
      help: "how many bytes of payload are kept at most"),
    choice(
      "cache.eviction", of: Configuration.Eviction.leastRecentlyUsed,
      help: "which entries go first when a limit is reached"),
    Self(
      "cache.shared", .option(.boolean), default: .option(.boolean(false)),
      help: "whether several users share the cache, as RFC 9111 means it"),
  ]

  private static let queries = [
    Self(
      "queries.maxCount", .option(.integer(1...1_000)), default: .integer(10),
      help: "how many recent movie queries are kept")
  ]

  private static let citiesOrigin =
    [
      choice("origin.cities.kind", of: Configuration.CitiesOrigin.Kind.sample, help: "where cities come from"),
      Self("origin.cities.baseURL", .url, help: "the address of the server; kind propublica knows its own"),
    ] + transport("origin.cities")

  private static let moviesOrigin =
    [
      choice("origin.movies.kind", of: Configuration.MoviesOrigin.Kind.sample, help: "where movies come from"),
      Self("origin.movies.baseURL", .url, help: "the address of the server; kind tmdb knows its own"),
      Self("origin.movies.imagesBaseURL", .url, help: "the address of the posters; kind tmdb knows its own"),
      Self("origin.movies.apiKey", .secret, help: "the key of the server, for kind tmdb"),
    ] + transport("origin.movies")

  private static func transport(_ origin: String) -> [ConfigurationKey] {
    [
      Self(
        "\(origin).timeout", .option(.duration(1...3_600_000)), default: .integer(30_000),
        help: "how long a request may take"),
      Self(
        "\(origin).maxResponseBytes", .option(.size(1...(1 << 30))), default: .integer(16 << 20),
        help: "the largest answer that is accepted"),
      Self(
        "\(origin).maxConcurrentRequests", .option(.integer(1...64)), default: .integer(4),
        help: "how many requests may be under way at once"),
      Self("\(origin).headers", .headers, default: .headers([]), help: "headers that are sent with each request"),
    ]
  }

  /// A duration of at most ten years.
  private static func duration(_ path: String, _ text: String, help: String) -> ConfigurationKey {
    let length = DurationText(text).map { ConfigurationValue.integer($0.milliseconds) }
    return Self(path, .option(.duration(0...315_360_000_000)), default: length, help: help)
  }

  private static func choice<Choice: RawRepresentable & CaseIterable>(
    _ path: String, of defaultChoice: Choice, help: String
  ) -> ConfigurationKey where Choice.RawValue == String {
    Self(
      path, .option(.choice(Choice.allCases.map(\.rawValue))), default: .text(defaultChoice.rawValue), help: help)
  }
}
