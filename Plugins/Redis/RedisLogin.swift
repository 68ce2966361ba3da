internal import CacheBase
internal import EngineAPI

/// The commands that start each new connection, sent in one round trip.
struct RedisLogin: Sendable {
  private enum Step { case authentication, database, name, replicas, server, replication }

  private let options: RedisOptions
  private let url: String
  private let steps: [(step: Step, command: RedisCommand)]

  /// Reads the files with the user and the password, which may change while the store is open.
  ///
  /// - Throws: `CacheError` with the code `invalidOption` if a file cannot be read.
  init(_ options: RedisOptions, _ address: RedisAddress) throws(CacheError) {
    self.options = options
    url = options.location.url(of: address)
    var steps: [(Step, RedisCommand)] = []
    if let login = try options.authentication() { steps.append((.authentication, login)) }
    if options.location.database != 0 {
      steps.append((.database, RedisCommand("SELECT", String(options.location.database))))
    }
    steps.append((.name, RedisCommand("CLIENT", "SETNAME", options.clientName)))
    // Without permission to ask for the replicas nothing can be confirmed: find out before anything is changed.
    if options.durability == .full { steps.append((.replicas, RedisCommand("ROLE"))) }
    steps.append((.server, RedisCommand("INFO", "server")))
    steps.append((.replication, RedisCommand("INFO", "replication")))
    self.steps = steps
  }

  var commands: [RedisCommand] { steps.map(\.command) }

  /// What the server says of itself in `replies`, those to `commands`.
  ///
  /// - Throws: `permissionDenied`, `invalidOption` or `busy` if the connection cannot be used.
  func role(_ replies: [RedisValue]) throws(CacheError) -> RedisConnection.Role {
    // The last two steps.
    let (server, replication) = (replies[steps.count - 2], replies[steps.count - 1])
    let mode: RedisConnection.Role.Mode =
      switch server.fact("redis_mode") {
      case "cluster": .cluster
      case "sentinel": .sentinel
      default: .standalone
      }
    for (step, reply) in zip(steps.map(\.step), replies) {
      if let error = reply.error { try judge(step, error, mode) }
    }
    return RedisConnection.Role(mode: mode, isMaster: replication.fact("role") == "master")
  }

  private func judge(
    _ step: Step, _ error: RedisServerError, _ mode: RedisConnection.Role.Mode
  ) throws(CacheError) {
    switch step {
    // A Sentinel has no databases, and need not have the server's password.
    case .authentication where mode == .sentinel, .database where mode == .sentinel: return
    case .authentication:
      // Servers differ in what they call a wrong password. The message may repeat it.
      throw CacheError(
        .permissionDenied, "\(url): the server refuses the user or the password",
        hint: "see the options user and password, or userFile and passwordFile")
    case .database where mode == .cluster:
      throw .badURL("a cluster has only the database 0", hint: "leave the number out")
    case .database where error.word == "ERR":
      throw .badURL(
        "\(url) has no database \(options.location.database)",
        hint: "a server has the databases 0 to 15, unless it was told to have more; leave the number out for 0")
    // The name is only for the people who look at the server.
    case .name where error.word != "NOAUTH": return
    default: throw CacheError(error, store: url)
    }
  }
}

extension RedisOptions {
  /// The command that logs in; `nil` if neither a user nor a password is given.
  fileprivate func authentication() throws(CacheError) -> RedisCommand? {
    let user = if let userFile { try Self.firstLine(of: userFile, "userFile") } else { user }
    let password = if let passwordFile { try Self.firstLine(of: passwordFile, "passwordFile") } else { password }
    // A user may need no password; but without a login the connection would use the default user.
    if !user.isEmpty { return RedisCommand("AUTH", user, password ?? "") }
    return password.map { RedisCommand("AUTH", $0) }
  }

  /// The longest user or password in a file, in bytes.
  private static let maximumLength = 1_024

  /// The first line of a file, which another program may be writing just now.
  private static func firstLine(of path: String, _ option: String) throws(CacheError) -> String {
    for attempt in 1...2 {
      let line = SmallFile.text(path)?.prefix { !$0.isNewline } ?? ""
      if (1...maximumLength).contains(line.utf8.count) { return String(line) }
      if attempt == 1 { usleep(50_000) }
    }
    throw CacheError(
      .invalidOption, "option '\(option)': \(path) cannot be read, or its first line is empty or too long",
      hint: "write up to \(maximumLength) bytes into its first line, for this user to read")
  }
}

extension RedisConnection {
  /// How long calls may have to wait behind one for the replicas, in milliseconds.
  private static let longestWait = 100

  /// Sends changes as `send` does, and waits until every replica that follows the server at the moment has them.
  ///
  /// - Throws: also `unanswered` if a replica has not confirmed them within the option timeout, or there are too few.
  func sendToReplicas(
    _ commands: [RedisCommand], _ options: RedisOptions
  ) async throws(RedisDisconnection) -> [RedisValue] {
    let start = ContinuousClock.now
    var replies = try await send(commands + [RedisCommand("ROLE")])
    let role = replies.removeLast()
    // What the server refuses has nothing to confirm, and the error may name the server that takes it.
    if replies.contains(where: { $0.error != nil }) { return replies }
    do throws(RedisDisconnection) {
      guard try await isConfirmed(since: start, role, options) else { throw unconfirmed(options) }
    } catch {
      // The change is made, even if the question about the replicas was not sent.
      throw .unanswered(error.error)
    }
    return replies
  }

  /// Whether all replicas confirm the changes of this connection; `role` is the reply to ROLE after them.
  private func isConfirmed(
    since start: ContinuousClock.Instant, _ role: RedisValue, _ options: RedisOptions
  ) async throws(RedisDisconnection) -> Bool {
    var role = role
    // To wait for a replica that is about to connect costs less than to repeat the change.
    while role.replicas ?? 0 < options.minimumReplicas, .now < start.advanced(by: .milliseconds(500)) {
      do { try await Task.sleep(for: .milliseconds(20)) } catch { throw .unanswered(.cancelled) }
      role = try await send([RedisCommand("ROLE")])[0]
    }
    // Only a server that is still the master has no replicas to ask.
    guard let replicas = role.replicas, replicas >= options.minimumReplicas else { return false }
    if replicas == 0 { return true }
    let question = RedisCommand("WAIT", String(replicas), String(Self.longestWait))
    repeat {
      if try await send([question])[0].integer ?? 0 >= replicas { return true }
    } while .now < start.advanced(by: options.timeout)
    return false
  }

  private func unconfirmed(_ options: RedisOptions) -> RedisDisconnection {
    .unanswered(
      CacheError(
        .unreachable,
        "\(options.location.url(of: address)): the server made the change, but too few replicas have confirmed it in time",
        hint: "start the replicas, lower minimumReplicas, or set durability to normal; the change need not be repeated")
    )
  }
}

extension RedisValue {
  /// The number of replicas in a master's reply to ROLE.
  fileprivate var replicas: Int? {
    guard let words = elements, words.count == 3, words[0].text == "master" else { return nil }
    return words[2].elements?.count
  }
}
