internal import CacheBase
internal import EngineAPI

/// The commands that start each new connection, sent in one round trip.
struct RedisLogin: Sendable {
  let commands: [RedisCommand]
  private let hasAuthentication: Bool
  private let database: Int

  /// Reads the files with the user and the password, which can change while the store is open.
  ///
  /// - Throws: `CacheError` with the code `invalidOption` if a file cannot be read.
  init(_ options: RedisOptions) throws(CacheError) {
    var commands: [RedisCommand] = []
    if let authentication = try options.authentication() { commands.append(authentication) }
    hasAuthentication = !commands.isEmpty
    commands.append(RedisCommand("HELLO", "2", "SETNAME", options.clientName))
    database = options.location.database
    if database != 0 { commands.append(RedisCommand("SELECT", String(database))) }
    self.commands = commands
  }

  /// The server's role, from its replies to `commands`.
  ///
  /// - Throws: `permissionDenied`, `invalidOption` or `busy` if the connection cannot be used.
  func role(_ replies: [RedisValue], url: String) throws(CacheError) -> RedisConnection.Role {
    let hello = replies[hasAuthentication ? 1 : 0]
    let role = RedisConnection.Role(hello)
    // A Sentinel has no databases, and need not have the server's password.
    if let role, role.mode == .sentinel { return role }
    if hasAuthentication, replies[0].error != nil {
      // Servers differ in what they call a wrong password. The message might repeat it.
      throw CacheError(
        .permissionDenied, "\(url): the server refuses the user or the password",
        hint: "see the options user and password, or userFile and passwordFile")
    }
    guard let role else {
      guard let error = hello.error, !error.description.hasPrefix("ERR unknown command") else {
        throw CacheError(
          .failed, "\(url): the server does not know the command HELLO", hint: "use Redis 6.2 or a later version")
      }
      throw error.word == "NOAUTH" ? CacheError(error, store: url) : .refused(url, error)
    }
    if database != 0, let error = replies.last?.error {
      if role.mode == .cluster { throw .badURL("a cluster has only the database 0", hint: "leave the number out") }
      guard error.word == "ERR" else { throw CacheError(error, store: url) }
      throw .badURL(
        "\(url) has no database \(database)",
        hint: "a server has the databases 0 to 15, unless it was told to have more; leave the number out for 0")
    }
    return role
  }
}

extension RedisConnection.Role {
  /// Reads the reply to HELLO, in which names and values alternate.
  init?(_ hello: RedisValue) {
    guard let words = hello.elements else { return nil }
    for index in stride(from: 0, to: words.count - 1, by: 2) {
      let value = words[index + 1]
      switch words[index].text {
      case "mode": mode = value.text.flatMap { Mode(rawValue: $0) } ?? mode
      case "role": isMaster = value.text == "master"
      case "id": client = value.integer ?? client
      default: break
      }
    }
  }
}

extension RedisOptions {
  /// The command that logs in; `nil` if neither a user nor a password is given.
  fileprivate func authentication() throws(CacheError) -> RedisCommand? {
    let user = if let userFile { try Self.firstLine(of: userFile, "userFile") } else { user }
    let password = if let passwordFile { try Self.firstLine(of: passwordFile, "passwordFile") } else { password }
    // A user can need no password; but without a login the connection would use the default user.
    if !user.isEmpty { return RedisCommand("AUTH", user, password ?? "") }
    return password.map { RedisCommand("AUTH", $0) }
  }

  /// The longest user or password in a file, in bytes.
  private static let maximumLength = 1_024

  /// The first line of a file, which another program might be writing just now.
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
