internal import Platform
internal import StorageSPI

/// The commands that start each new connection, sent in one round trip.
struct RedisLogin: Sendable {
  private enum Step { case authentication, database, name, server, replication }

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
    steps.append((.server, RedisCommand("INFO", "server")))
    steps.append((.replication, RedisCommand("INFO", "replication")))
    self.steps = steps
  }

  var commands: [RedisCommand] { steps.map(\.command) }

  /// What the server says of itself in `replies`, those to `commands`.
  ///
  /// - Throws: `permissionDenied`, `invalidOption` or `busy` if the connection cannot be used.
  func role(_ replies: [RedisValue]) throws(CacheError) -> RedisConnection.Role {
    var facts: [Substring: Substring] = [:]
    for reply in replies.suffix(2) {
      for line in (reply.text ?? "").split(whereSeparator: \.isNewline) {
        let colon = line.firstIndex(of: ":") ?? line.startIndex
        facts[line[..<colon]] = line[colon...].dropFirst()
      }
    }
    let mode: RedisConnection.Role.Mode =
      switch facts["redis_mode"] {
      case "cluster": .cluster
      case "sentinel": .sentinel
      default: .standalone
      }
    for (step, reply) in zip(steps.map(\.step), replies) {
      if let error = reply.error { try judge(step, error, mode) }
    }
    return RedisConnection.Role(
      mode: mode, isMaster: facts["role"] == "master", runID: String(facts["run_id"] ?? ""))
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
