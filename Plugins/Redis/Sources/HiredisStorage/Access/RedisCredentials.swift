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
        user: try userFile.map { path throws(RedisOpeningError) in try Self.firstLine(of: path) } ?? user,
        password: try passwordFile.map { path throws(RedisOpeningError) in try Self.firstLine(of: path) } ?? password)
    }
  }

  private static func firstLine(of path: String) throws(RedisOpeningError) -> String {
    let line = SmallFile.text(path)?.prefix { !$0.isNewline } ?? ""
    guard !line.isEmpty else {
      throw .refused(
        CacheError(
          .invalidOption, "\(path) cannot be read, or its first line is empty",
          hint: "see the options userFile and passwordFile"))
    }
    return String(line)
  }
}
