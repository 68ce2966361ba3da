internal import StorageSPI

/// The options of both engines: their declarations and their values.
struct RedisOptions: Sendable {
  typealias Kind = RedisPlugin.Kind

  private static let url = EngineOption(
    "url", .text, default: .text("redis://127.0.0.1:6379"),
    help: "redis://host:port/database; of a cluster some of the nodes, separated by commas")
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
    if kind == .cluster, location.database != 0 {
      throw .badURL("a cluster has only the database 0", hint: "leave the number out")
    }
  }
}

extension RedisOptions: CustomStringConvertible {
  /// The location of the store, without secrets.
  var description: String { "\(location) (\(layout.prefix))" }
}
