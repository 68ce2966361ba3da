public import StorageSPI

/// Keeps entries on Redis. There are two engines: one on a single server, which any number of machines can share, and
/// one on a Redis Cluster, across all its nodes.
///
/// On a cluster a batch is atomic within each part of the store (see `RedisLayout`), but not across parts. So that
/// engine does not declare `atomicBatches`.
public struct RedisPlugin: StoragePlugin {
  /// What the address points to.
  public enum Kind: Sendable {
    /// One server.
    case server
    /// The nodes of a Redis Cluster.
    case cluster
  }

  /// The engine's name, capabilities and options. The version is that of the layout on the server.
  public let declaration: EngineDeclaration
  private let kind: Kind

  /// Creates the plugin for servers of `kind`.
  public init(_ kind: Kind = .server) {
    self.kind = kind
    declaration =
      switch kind {
      case .server:
        EngineDeclaration(
          name: "redis", version: "1", summary: "one Redis server that many machines share",
          capabilities: [.persistent, .shared, .atomicBatches, .nativeExpiry, .eviction], options: RedisOptions.all)
      case .cluster:
        EngineDeclaration(
          name: "rediscluster", version: "1", summary: "a Redis Cluster, the entries spread over its nodes",
          capabilities: [.persistent, .shared, .nativeExpiry], options: RedisOptions.all)
      }
  }

  /// Connects to the server, or asks the nodes of the address for the others, and checks that the store there is one of
  /// this engine. Cost: a connection and two round trips.
  ///
  /// - Throws: `CacheError`: `unreachable` if no server of the address answers, `permissionDenied` if one refuses the
  ///   user or the password, `unsupportedFormat` if the store is of another version, `invalidOption` if the address is
  ///   invalid or leads to a server of the other kind.
  public func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
    try await RedisEngine.open(try RedisOptions(configuration, kind: kind), clock: configuration.clock)
  }

  /// Asks the server whether the store exists, and for its format. Cost: a connection and two round trips.
  ///
  /// - Throws: the same errors as `open(_:)`.
  public func inspect(_ configuration: EngineConfiguration) async throws(CacheError) -> StoreInspection {
    try await RedisEngine.inspect(try RedisOptions(configuration, kind: kind), clock: configuration.clock)
  }

  /// Removes unreadable entries, drops index lines without an entry, and recounts the rest. There are no files to move
  /// aside. Others can keep using the store. Cost: every entry is read.
  ///
  /// - Throws: the same errors as `open(_:)`; `busy` if others write all the time.
  public func repair(
    _ configuration: EngineConfiguration, _ plan: RepairPlan
  ) async throws(CacheError) -> RepairReport {
    try await RedisEngine.repair(try RedisOptions(configuration, kind: kind), plan, clock: configuration.clock)
  }

  /// Removes all entries and everything else that the store keeps, whatever its state. It touches nothing else on the
  /// server. It cannot tell whether other processes have the store open; they find it empty. Cost: a round trip for
  /// each 1,000 entries.
  ///
  /// - Throws: the same errors as `open(_:)`.
  public func removeStore(_ configuration: EngineConfiguration) async throws(CacheError) {
    try await RedisEngine.removeStore(try RedisOptions(configuration, kind: kind), clock: configuration.clock)
  }
}

/// The options of both engines: their declarations and their values.
struct RedisOptions: Sendable {
  typealias Kind = RedisPlugin.Kind

  private static let url = EngineOption(
    "url", .text, default: .text("redis://127.0.0.1:6379"),
    help: "redis://host:port/database, or unix:///path?db=database; of a cluster some of the nodes, separated by commas"
  )
  private static let user = EngineOption(
    "user", .text, default: .text(""), help: "the user to log in as; empty for the server's default user")
  private static let password = EngineOption(
    "password", .text, help: "the password, where the server wants one", isSecret: true)
  private static let prefix = EngineOption(
    "prefix", .storeName, default: .text("cachectl"), help: "what the names of all keys on the server begin with")
  private static let connectTimeout = EngineOption(
    "connectTimeout", .duration(1...3_600_000), default: .integer(2_000), help: "how long to wait for a connection")
  private static let timeout = EngineOption(
    "timeout", .duration(1...3_600_000), default: .integer(5_000),
    help: "how long to wait for an answer, and to try again where a cluster is changing")
  private static let connections = EngineOption(
    "connections", .integer(1...64), default: .integer(4), help: "how many calls may wait for the server at once")

  static let all = [url, user, password, prefix, connectTimeout, timeout, connections, EngineOption.durability]

  let kind: Kind
  let location: RedisLocation
  let user: String
  let password: String?
  let layout: RedisLayout
  /// The longest wait for a connection.
  let connectTimeout: Duration
  /// The longest wait for an answer, and the longest time for which a call is retried.
  let timeout: Duration
  let connections: Int
  let durability: Durability

  init(_ configuration: EngineConfiguration, kind: Kind) throws(CacheError) {
    self.kind = kind
    location = try RedisLocation(url: try configuration.text(Self.url.name))
    user = try configuration.text(Self.user.name)
    // The only option without a default: if it is not given, there is no password.
    password = try? configuration.text(Self.password.name)
    let prefix = try configuration.text(Self.prefix.name)
    layout = RedisLayout(prefix: prefix, partCount: kind == .cluster ? RedisLayout.clusterPartCount : 1)
    connectTimeout = .milliseconds(try configuration.integer(Self.connectTimeout.name))
    timeout = .milliseconds(try configuration.integer(Self.timeout.name))
    connections = Int(try configuration.integer(Self.connections.name))
    durability = try configuration.durability()
    try checkLocation()
  }

  private func checkLocation() throws(CacheError) {
    if kind == .server, location.addresses.count > 1 {
      throw .badURL("several addresses are those of a cluster", hint: "use the backend rediscluster, or one address")
    }
    if kind == .cluster, location.addresses.contains(where: \.isSocket) {
      throw .badURL("a cluster is not on a socket", hint: "use the backend redis, or give addresses of the cluster")
    }
    if kind == .cluster, location.database != 0 {
      throw .badURL("a cluster has only the database 0", hint: "leave the number out")
    }
  }
}

extension RedisOptions: CustomStringConvertible {
  /// The location of the store, without secrets.
  var description: String { "\(location) (\(layout.prefix))" }
}

extension StorageLocation {
  /// The store on the server at `url`, such as "redis://127.0.0.1:6379" or "unix:///run/redis/redis-server.sock". The
  /// names of its keys there begin with `prefix`.
  public static func redis(url: String, prefix: String = "cachectl") -> StorageLocation {
    StorageLocation(RedisPlugin(), ["url": .text(url), "prefix": .text(prefix)])
  }
}
