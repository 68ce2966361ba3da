internal import ResponseStorage
internal import StorageSPI

/// The sections of every configuration. A resource adds its own.
extension Configuration {
  /// The sections that follow the engines.
  static var sections: [any ConfigurationSection.Type] { [Plugins.self, Cache.self, Network.self] }

  /// The keys outside of all objects.
  struct General: ConfigurationSection {
    static var path: String { "" }

    /// The engine's name, or the path of its library.
    let backend: String
    let environment: Environment

    init(_ keys: inout SectionReader) {
      let engines = keys.engines
      backend =
        keys.key(
          "backend", .backend(engines), default: engines.first.map { .text($0) }, safety: .builtInEngine,
          variable: "CACHECTL_BACKEND", help: "the storage engine")?.text ?? ""
      environment = keys.choice(
        "environment", default: .dev, safety: .nothing, rule: nil, variable: "CACHECTL_ENVIRONMENT",
        help: "which origins are asked by default")
    }
  }

  /// Where libraries are looked for.
  struct Plugins: ConfigurationSection {
    static var path: String { "plugins" }

    let searchPath: [String]

    init(_ keys: inout SectionReader) {
      searchPath =
        keys.key(
          "searchPath", .paths, default: .list(["~/.local/lib/cachectl/plugins"]), variable: "CACHECTL_PLUGIN_PATH",
          help: "the folders in which plugins are looked for")?.list ?? []
    }
  }
}

extension Configuration.Cache: ConfigurationSection {
  /// "cache".
  public static var path: String { "cache" }

  /// Declares and reads the keys.
  public init(_ keys: inout SectionReader) {
    timeToLive = keys.duration(
      "timeToLive", default: .seconds(3_600), help: "how long an entry is fresh when its origin does not say")
    staleIfError = keys.duration(
      "staleIfError", default: .seconds(604_800), help: "how long a stale entry stands in for an origin that fails")
    staleWhileRevalidate = keys.duration(
      "staleWhileRevalidate", default: .zero, help: "how long a stale entry is served while the origin is asked again")
    maxEntries = keys.integer(
      "maxEntries", default: 100_000, in: 1...1_000_000_000, help: "how many entries are kept at most")
    maxBytes = keys.size(
      "maxBytes", default: 1 << 30, in: 1_024...(1 << 50), help: "how many bytes of payload are kept at most")
    maxEntryBytes = keys.size(
      "maxEntryBytes", default: 16 << 20, in: 1_024...(1 << 30), safety: .upToDefault,
      help: "how many bytes the answer of a URL may have to be kept")
    eviction = keys.choice(
      "eviction", default: .leastRecentlyUsed, safety: .anything,
      help: "which entries go first when a limit is reached")
    isShared = keys.boolean(
      "shared", default: false, safety: .anything,
      help: "whether several users share the cache, as RFC 9111 means it")
  }
}

extension Configuration.Network: ConfigurationSection {
  /// "network".
  public static var path: String { "network" }

  /// Declares and reads the keys.
  public init(_ keys: inout SectionReader) {
    proxy =
      keys.key(
        "proxy", .proxy,
        help: "the address of the proxy, such as http://proxy:3128 or socks5h://proxy:1080, or none where it is empty; "
          + "without it the environment names one")?.text
    authorityFile = keys.optionalPath(
      "authorityFile", help: "a file of certificates (PEM) to trust in place of the system's")
    let clientKeyPath = keys.path("clientKey")
    clientCertificate =
      keys.key(
        "clientCertificate", .option(.path),
        rule: .requiredBy(
          clientKeyPath, reason: "which that key is for", hint: "give the path of the certificate"),
        help: "a file with the certificate (PEM) that is shown to servers that ask for one")?.text
    clientKey = keys.optionalPath("clientKey", help: "the file with its private key, where that is another one")
  }
}
