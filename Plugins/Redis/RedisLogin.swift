internal import StorageSPI

/// Why no usable connection could be opened.
enum RedisOpeningError: Error {
  /// A retry or another server may help.
  case trouble(RedisTrouble)
  /// The server refuses, or cannot be used.
  case refused(CacheError)
}

/// The commands that start each new connection, sent in one round trip.
struct RedisLogin {
  private let options: RedisOptions
  private let address: RedisAddress

  private enum Step {
    case authentication, database, name, kind, role
    case script
  }

  private let steps: [(step: Step, command: RedisCommand)]

  init(_ options: RedisOptions, _ address: RedisAddress) throws(RedisOpeningError) {
    (self.options, self.address) = (options, address)
    var steps: [(Step, RedisCommand)] = []
    if let login = try options.credentials.login { steps.append((.authentication, login)) }
    if options.location.database != 0 {
      steps.append((.database, RedisCommand("SELECT", String(options.location.database))))
    }
    steps.append((.name, RedisCommand("CLIENT", "SETNAME", options.clientName)))
    steps.append((.kind, RedisCommand("INFO", "cluster")))
    // Without permission to ask for the replicas nothing can be confirmed; find out before changing anything. Sentinels
    // may name a server that is about to become a replica.
    if options.durability == .full || options.location.service != nil { steps.append((.role, RedisCommand("ROLE"))) }
    for script in RedisScript.allCases { steps.append((.script, RedisCommand("SCRIPT", "LOAD", script.source))) }
    self.steps = steps
  }

  /// Logs in on `connection`, which must be new.
  func perform(on connection: RedisConnection) throws(RedisOpeningError) {
    let answers: [RedisValue]
    var services: [String]?
    do throws(RedisDisconnection) {
      answers = try connection.exchange(steps.map(\.command)).map(\.value)
      if answers.contains(where: { $0.error?.isOfUnknownCommand == true }) { services = try Self.services(connection) }
    } catch {
      throw error.openingError(at: address, hint: options.encryptionHint)
    }
    if let services { throw .refused(sentinel(of: services)) }
    for (step, answer) in zip(steps.map(\.step), answers) { try judge(step, answer) }
    connection.learn(answers.suffix(RedisScript.allCases.count).compactMap(\.text))
  }

  /// The services that the Sentinel at the other end of `connection` watches; `nil` if it is no Sentinel.
  private static func services(_ connection: RedisConnection) throws(RedisDisconnection) -> [String]? {
    let role = try connection.exchange([RedisCommand("ROLE")])[0].value.elements ?? []
    return role.first?.text == "sentinel" ? role.last?.elements?.compactMap(\.text) ?? [] : nil
  }

  private func sentinel(of services: [String]) -> CacheError {
    let url = "\(options.encryption == nil ? "redis" : "rediss")-sentinel://\(address)#\(services.first ?? "mymaster")"
    return .badURL(
      "\(address) is a Sentinel",
      hint: options.kind == .cluster
        ? "name nodes of the cluster, or write \(url) with the backend redis" : "write it like \(url)")
  }

  private func judge(_ step: Step, _ answer: RedisValue) throws(RedisOpeningError) {
    if let error = answer.error {
      switch step {
      // Servers differ in what they call a wrong password, and in whether they object to a needless login.
      case .authentication: throw .refused(.loginRefused(options.location.url(of: address)))
      // The user may not be allowed to ask; the rest does not depend on the answer.
      case .name where error.word == "NOPERM", .kind where error.word == "NOPERM": return
      case .database where error.word == "ERR":
        throw .refused(
          .badURL(
            "\(url) has no database \(options.location.database)",
            hint: "a server has the databases 0 to 15, unless it was told to have more; leave the number out for 0"))
      case _ where error.isPassing: throw .trouble(.busy("\(address): \(error)"))
      default: throw .refused(CacheError(error, store: url))
      }
    }
    if step == .kind, let isCluster = answer.text?.contains("cluster_enabled:1") { try judge(isCluster: isCluster) }
    if step == .role, options.location.service != nil, answer.elements?.first?.text != "master" {
      throw .trouble(.busy("\(address): the Sentinels name it as the master, but it is a replica"))
    }
  }

  private var url: String { options.location.url(of: address) }

  /// Errors that pass, such as those of a server that has just started.
  static let passing: Set<String> = ["LOADING", "BUSY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN"]

  private func judge(isCluster: Bool) throws(RedisOpeningError) {
    switch (options.kind, isCluster) {
    case (.server, true), (.evictingServer, true):
      throw .refused(.badURL("\(url) belongs to a cluster", hint: "use the backend rediscluster"))
    case (.cluster, false):
      throw .refused(.badURL("\(url) belongs to no cluster", hint: "use the backend redis"))
    default: return
    }
  }
}

extension RedisConnection {
  /// Connects to `address` and logs in. Cost: two round trips.
  static func open(
    _ address: RedisAddress, _ options: RedisOptions, _ patience: RedisPatience? = nil
  ) throws(RedisOpeningError) -> RedisConnection {
    let connection: RedisConnection
    do throws(RedisDisconnection) {
      connection = try RedisConnection(
        address, timeout: options.connectTimeout, silence: options.silence, encryption: options.encryption,
        patience: patience)
    } catch {
      guard case .silent = error, options.encryption != nil else { throw error.openingError(at: address) }
      throw .trouble(.silent("\(address): no answer in time to a TLS handshake", hint: RedisEncryption.plainHint))
    }
    try RedisLogin(options, address).perform(on: connection)
    return connection
  }

  /// Sends all `commands` at once, and waits for their replies.
  func exchange(_ commands: [RedisCommand]) throws(RedisDisconnection) -> [RedisReply] {
    var bytes: [UInt8] = []
    for command in commands { command.encode(into: &bytes) }
    try send(bytes)
    var replies: [RedisReply] = []
    for _ in commands { replies.append(try receive()) }
    return replies
  }
}

extension RedisOptions {
  /// How long a server may be silent. This must leave time to ask another one, if another one can take its place.
  var silence: Duration { findsServers ? timeout / 2 : timeout }

  /// What to do about a server that ends a new connection instead of answering; `nil` for no particular advice.
  var encryptionHint: String? {
    if location.addresses.first?.isSocket == true { return nil }
    return encryption == nil
      ? "write rediss:// in the option url if this port encrypts; otherwise see the server's log"
      : "see the option certificate if the server asks for one; otherwise see the server's log"
  }
}

extension RedisDisconnection {
  /// The equivalent error for opening a connection to the server at `address`.
  ///
  /// - Parameter hint: what to do about a connection that broke; `nil` for no particular advice.
  func openingError(at address: RedisAddress, hint: String? = nil) -> RedisOpeningError {
    switch self {
    case .refused(let message, let hint): .trouble(.unreachable("\(address): \(message)", hint: hint))
    case .broken(let message): .trouble(.unreachable("\(address): \(message)", hint: hint))
    case .silent: .trouble(.silent("\(address): no answer in time"))
    case .abandoned: .refused(.abandoned)
    }
  }
}
