internal import Platform
internal import StorageSPI

/// The user and the password of one login.
struct RedisCredentials {
  private let user: String
  private let password: String?

  fileprivate init(user: String, password: String?) { (self.user, self.password) = (user, password) }

  /// The command that logs in; `nil` if neither a user nor a password is given.
  var login: RedisCommand? {
    // A user may need no password; but without a login the connection would use the default user.
    if !user.isEmpty { return RedisCommand("AUTH", user, password ?? "") }
    return password.map { RedisCommand("AUTH", $0) }
  }
}

extension RedisOptions {
  /// The user and the password, read anew from their files: those may change while the store is open.
  ///
  /// - Throws: `RedisOpeningError.refused` if a file cannot be read.
  var credentials: RedisCredentials {
    get throws(RedisOpeningError) {
      RedisCredentials(
        user: try userFile.map { path throws(RedisOpeningError) in try Self.firstLine(of: path, "userFile") } ?? user,
        password: try passwordFile.map { path throws(RedisOpeningError) in
          try Self.firstLine(of: path, "passwordFile")
        } ?? password)
    }
  }

  /// The longest user or password in a file, in bytes.
  private static let maximumLength = 1_024

  /// The first line of a file, which another program may be writing just now.
  private static func firstLine(of path: String, _ option: String) throws(RedisOpeningError) -> String {
    for attempt in 1...2 {
      let line = SmallFile.text(path)?.prefix { !$0.isNewline } ?? ""
      if (1...maximumLength).contains(line.utf8.count) { return String(line) }
      if attempt == 1 { usleep(50_000) }
    }
    throw .refused(
      CacheError(
        .invalidOption, "option '\(option)': \(path) cannot be read, or its first line is empty or too long",
        hint: "write up to \(maximumLength) bytes into its first line, for this user to read"))
  }
}
