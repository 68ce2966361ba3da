internal import EngineAPI

/// The options of the engine: their declarations and their values.
struct RedisOptions: Sendable {
  private static let url = EngineOption(
    "url", .text, default: .text("redis://127.0.0.1:6379"),
    help:
      "the address: redis://host:port/database, unix:///path?db=database, or redis-sentinel://host:port,host:port#service; "
      + "of a cluster, some of the nodes, separated by commas; rediss encrypts")
  private static let user = EngineOption(
    "user", .text, default: .text(""), help: "the user to log in as; empty for the server's default user")
  private static let password = EngineOption(
    "password", .text, help: "the password, if the server requires one", isSecret: true)
  private static let userFile = EngineOption(
    "userFile", .text, help: "the path of a file whose first line is the user, read for each new connection")
  private static let passwordFile = EngineOption(
    "passwordFile", .text, help: "the path of a file whose first line is the password, read for each new connection")
  private static let ca = EngineOption(
    "ca", .text, help: "the path of the certificates to trust, in PEM; without it, the ones that the system trusts")
  private static let certificate = EngineOption(
    "certificate", .text, help: "the path of the certificate to show the server, in PEM, with its chain")
  private static let certificateKey = EngineOption(
    "certificateKey", .text, help: "the path of the certificate's private key, if it is not in the same file")
  private static let clientName = EngineOption(
    "clientName", .text, default: .text("cachectl"), help: "the name of the connections in CLIENT LIST")
  private static let prefix = EngineOption(
    "prefix", .storeName, default: .text("cachectl"), help: "the beginning of the names of all keys on the server")
  private static let connectTimeout = EngineOption(
    "connectTimeout", .duration(1...3_600_000), default: .integer(2_000),
    help: "the maximum time to wait for a connection")
  private static let timeout = EngineOption(
    "timeout", .duration(1...3_600_000), default: .integer(5_000),
    help: "the maximum time to wait for a response, and to retry while a cluster changes")

  static let all = [
    url, user, password, userFile, passwordFile, ca, certificate, certificateKey, prefix, clientName, connectTimeout,
    timeout, EngineOption.durability,
  ]

  let location: RedisLocation
  let user: String
  let password: String?
  /// The files whose first lines take the places of `user` and `password`.
  let userFile: String?
  let passwordFile: String?
  /// How connections are encrypted; `nil` if they are not.
  let encryption: RedisEncryption?
  let clientName: String
  let prefix: String
  /// The longest wait for a connection.
  let connectTimeout: Duration
  /// The longest wait for a reply, and the longest time for which a call is retried.
  let timeout: Duration

  init(_ configuration: EngineConfiguration) throws(CacheError) {
    location = try RedisLocation(url: try configuration.text(Self.url.name))
    user = try configuration.text(Self.user.name)
    // Options without a default, which might be missing.
    password = try? configuration.text(Self.password.name)
    userFile = try Self.file(Self.userFile, configuration)
    passwordFile = try Self.file(Self.passwordFile, configuration)
    let authority = try Self.file(Self.ca, configuration)
    let certificate = try Self.file(Self.certificate, configuration)
    let key = try Self.file(Self.certificateKey, configuration)
    guard location.isEncrypted || authority == nil && certificate == nil else {
      throw .badURL("certificates are for encrypted connections", hint: "write it like rediss://127.0.0.1:6379")
    }
    guard key == nil || certificate != nil else {
      throw CacheError(.invalidOption, "option 'certificateKey': there is no certificate", hint: "give both")
    }
    encryption =
      location.isEncrypted ? try RedisEncryption(authority: authority, certificate: certificate, key: key) : nil
    clientName = try configuration.text(Self.clientName.name)
    prefix = try configuration.text(Self.prefix.name)
    connectTimeout = .milliseconds(try configuration.integer(Self.connectTimeout.name))
    timeout = .milliseconds(try configuration.integer(Self.timeout.name))
    guard !clientName.isEmpty, clientName.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw CacheError(
        .invalidOption, "option 'clientName': it must be printable ASCII without spaces", hint: "choose another one")
    }
    guard userFile == nil || user.isEmpty, passwordFile == nil || password == nil else {
      throw CacheError(
        .invalidOption, "a user or a password is given twice, itself and in a file", hint: "leave one of them out")
    }
  }

  /// The path of a file that the engine only reads. (An option of the kind `path` is a place for a store.)
  private static func file(
    _ option: EngineOption, _ configuration: EngineConfiguration
  ) throws(CacheError) -> String? {
    guard let path = try? configuration.text(option.name) else { return nil }
    guard path.hasPrefix("/") else {
      throw CacheError(
        .invalidOption, "option '\(option.name)': it is not an absolute path", hint: "begin it with a slash")
    }
    return path
  }

  /// How long a server can be silent. This must leave time to ask another one, if another one can take its place.
  var silence: Duration { location.addresses.count > 1 || location.service != nil ? timeout / 2 : timeout }

  /// The hint for a server that ends a new connection instead of replying; `nil` for no particular advice.
  var hintForNewConnection: String? {
    if location.addresses.first?.isSocket == true { return nil }
    return encryption == nil
      ? "write rediss:// in the option url if this port encrypts; otherwise see the server's log"
      : "see the option certificate if the server asks for one; otherwise see the server's log"
  }
}

extension RedisOptions: CustomStringConvertible {
  /// The location of the store, without secrets.
  var description: String { "\(location) (\(prefix))" }
}
