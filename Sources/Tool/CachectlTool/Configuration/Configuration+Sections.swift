internal import CacheBase
public import CacheCore
package import HTTPCaching

/// The typed values of the sections of every configuration. A resource adds its own.
extension Configuration {
  /// The origins to ask if the configuration names none.
  public var environment: Environment { section(General.self).environment }
  /// The absolute paths of the folders to search for plugins.
  public var pluginSearchPath: [String] { section(Plugins.self).searchPath }
  /// How long entries are used, and how many are kept.
  public var cache: Cache { section(Cache.self) }
  /// How to reach servers.
  public var network: Network { section(Network.self) }

  /// The origins to ask if the configuration names none.
  public enum Environment: String, Sendable, CaseIterable {
    /// The bundled sample.
    case dev
    /// The public servers, before a release.
    case alpha
    /// The public servers.
    case real
  }

  /// The keys outside of all objects, except the engine.
  struct General: ConfigurationSection {
    static var path: String { "" }

    let environment: Environment

    init(_ keys: inout SectionReader) {
      environment = keys.choice(
        "environment", default: .dev, help: "the environment, which selects the default origins")
    }
  }

  /// Where libraries are looked for.
  struct Plugins: ConfigurationSection {
    static var path: String { "plugins" }
    /// The path of the key `searchPath`.
    static var searchPathKey: String { "plugins.searchPath" }

    let searchPath: [String]

    init(_ keys: inout SectionReader) {
      searchPath =
        keys.key(
          "searchPath", .paths, default: .list(["~/.local/lib/cachectl/plugins"]), variable: "PLUGIN_PATH",
          help: "the directories with the libraries of engines")?.list ?? []
    }
  }

  /// How long entries are used, and how many are kept: the section `cache`.
  public struct Cache: ConfigurationSection, Hashable {
    /// "cache".
    public static var path: String { "cache" }

    private let keys: CacheKeys
    /// The maximum number of payload bytes of a stored URL response. A larger response is only passed on.
    public let maxEntryBytes: Int
    /// The names of the transforms that entries are written with, in this order.
    public let transforms: [String]
    /// The names of the layers around the engine, the innermost first.
    public let layers: [String]

    /// Declares and reads the keys.
    public init(_ keys: inout SectionReader) {
      self.keys = CacheKeys(
        &keys, default: FreshnessPolicy(timeToLive: .seconds(3_600), staleIfError: .seconds(604_800)))
      maxEntryBytes = keys.size(
        "maxEntryBytes", default: 16 << 20, in: 1_024...(1 << 30),
        help: "the maximum size of a stored response of a URL, and of a payload that is compressed")
      transforms = keys.names(
        "transforms", ofSections: transformsPrefix,
        help: "the changes to payloads before they are stored, in this order: zstd compresses, sealed encrypts")
      layers = keys.names(
        "layers", ofSections: layersPrefix,
        help: "the layers around the engine, the innermost first: readonly refuses every change of the store")
    }

    /// How long an entry is used.
    package var freshness: FreshnessPolicy { keys.freshness }
    /// How much the store can hold, and which entries are evicted first.
    public var limits: StoreLimits { keys.limits }
    /// Whether this is a shared cache as defined by RFC 9111.
    public var isShared: Bool { keys.isShared }
  }

  /// How to reach servers: the section `network`. `nil` leaves a setting to the environment and the system.
  public struct Network: ConfigurationSection, Hashable {
    /// "network".
    public static var path: String { "network" }

    /// The URL of the proxy; empty for no proxy.
    public var proxy: String?
    /// The path of a file of certificates (PEM): no other authorities are trusted.
    public var authorityFile: String?
    /// The path of the client certificate (PEM).
    public var clientCertificate: String?
    /// The path of its private key; `nil` if it is in the same file.
    public var clientKey: String?

    /// These settings, overridden by those of `others` that are not `nil`.
    func overridden(by others: Network) -> Network {
      let hasCertificate = others.clientCertificate != nil
      return Network(
        proxy: others.proxy ?? proxy, authorityFile: others.authorityFile ?? authorityFile,
        clientCertificate: others.clientCertificate ?? clientCertificate,
        clientKey: hasCertificate ? others.clientKey : clientKey)
    }
  }

  /// How requests are made, for every kind of origin.
  public struct Transport: Sendable, Hashable {
    /// The time limit of a request.
    public let timeout: Duration
    /// The size limit of a response, in bytes.
    public let maxResponseBytes: Int
    /// The maximum number of concurrent requests, 1 to 64.
    public let maxConcurrentRequests: Int
    /// The headers to send with each request, in the order of the configuration.
    public let headers: [HeaderSetting]
    /// How to reach servers.
    public let network: Network
    /// The section of the origin, such as "origin.cities"; `nil` if its limits are not settings.
    public var section: String?
    /// The command's demands beyond the configuration.
    var demands = TransferDemands()
    /// Whether a response is streamed as it is read, whatever its size. The time limit then applies to each wait.
    var isStreamed = false

    /// The limits of URL requests: 30 seconds for each wait, or the whole of a longer `maxTime`, since its user chose to
    /// wait that long; and at most `maxEntryBytes` held in memory.
    static func urls(maxEntryBytes: Int, network: Network, _ demands: TransferDemands) -> Transport {
      Transport(
        timeout: max(.seconds(30), demands.maxTime ?? .zero), maxResponseBytes: maxEntryBytes,
        maxConcurrentRequests: 4, headers: [], network: network.overridden(by: demands.network), demands: demands,
        isStreamed: true)
    }
  }
}

extension Configuration.Network {
  /// Declares and reads the keys.
  public init(_ keys: inout SectionReader) {
    proxy =
      keys.key(
        "proxy", .proxy,
        help: """
          the address of the proxy, such as http://proxy:3128 or socks5h://proxy:1080; an empty one means none, and \
          without it, the proxy of variables such as https_proxy is used
          """)?.text
    authorityFile = keys.optionalPath(
      "authorityFile", help: "a file of certificates (PEM) to trust instead of the system's")
    clientCertificate = keys.optionalPath(
      "clientCertificate", help: "a file with the certificate (PEM) for servers that request one")
    clientKey = keys.optionalPath("clientKey", help: "a file with its private key, if that is separate")
    guard clientKey != nil else { return }
    keys.require(
      keys.path("clientCertificate"), by: keys.path("clientKey"), "which that key is for",
      hint: "give the path of the certificate")
  }
}

/// The keys that several sections have in common.
extension SectionReader {
  /// Declares `kind`, the implementation of the origin. The default is `value` if the key `environment` is "dev", and
  /// `outsideDevelopment` otherwise.
  public mutating func kind<Kind: RawRepresentable & CaseIterable>(
    default value: Kind, outsideDevelopment: Kind, help: String
  ) -> Kind where Kind.RawValue == String {
    let isDevelopment = section(Configuration.General.self).environment == .dev
    let standard = isDevelopment ? value : outsideDevelopment
    let read = key(
      "kind", .option(.choice(Kind.allCases.map(\.rawValue))), default: .text(standard.rawValue),
      following: isDevelopment ? nil : "environment", help: help)
    return read?.text.flatMap { Kind(rawValue: $0) } ?? standard
  }

  /// Declares the address of a server; `nil` only for a kind that asks none.
  ///
  /// - Parameters:
  ///   - known: the addresses of kinds that have one of their own.
  ///   - required: the kinds for which the user must give one.
  public mutating func address<Kind: RawRepresentable>(
    _ name: String, known: [(kind: Kind, address: String)] = [], required: [Kind] = [], help: String
  ) -> String? where Kind.RawValue == String {
    let kindPath = path("kind")
    let kind = declared("kind")?.value?.text
    let address = known.first { $0.kind.rawValue == kind }?.address
    let read = key(
      name, .url, default: address.map(SettingValue.text), following: address == nil ? nil : kindPath, help: help)?.text
    if let kind, required.contains(where: { $0.rawValue == kind }) {
      require(path(name), by: kindPath, "which kind \(kind) needs", hint: "give \(SettingKind.url.allowed)")
    }
    return read
  }

  /// Declares `timeout`, `maxResponseBytes`, `maxConcurrentRequests` and `headers`: how requests are made.
  public mutating func transport() -> Configuration.Transport {
    Configuration.Transport(
      timeout: duration(
        "timeout", default: .seconds(30), in: .milliseconds(1) ... .seconds(3_600),
        help: "the maximum time for a request"),
      maxResponseBytes: size(
        "maxResponseBytes", default: 16 << 20, in: 1...(1 << 30),
        help: "the maximum size of a response"),
      maxConcurrentRequests: integer(
        "maxConcurrentRequests", default: 4, in: 1...64,
        help: "the maximum number of requests at the same time"),
      headers: headers("headers", help: "header fields that are sent with each request"),
      network: section(Configuration.Network.self), section: section)
  }

  /// Declares a list of names of the sections whose paths begin with `prefix`, each at most once.
  fileprivate mutating func names(_ name: String, ofSections prefix: String, help: String) -> [String] {
    let names = key(name, .names, default: .list([]), help: help)?.list ?? []
    if names.isEmpty { return [] }
    let known = sectionPaths.filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
    guard let source = declared(name)?.source else { return names }
    for (index, item) in names.enumerated() {
      if !known.contains(item) {
        let nearest = Spelling.nearest(to: item, among: known).map { "; the nearest is \($0)" } ?? ""
        report(
          .outOfRange, source, "'\(path(name))' cannot contain \(item.shown)",
          hint: "give some of \(known.joined(separator: ", "))\(nearest)", key: path(name))
      } else if names[..<index].contains(item) {
        report(
          .outOfRange, source, "'\(path(name))' contains \(item.shown) twice", hint: "give each name once",
          key: path(name))
      }
    }
    return names
  }
}
