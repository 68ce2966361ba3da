internal import StorageSPI

/// Why a request has no answer yet, although a retry may get one.
enum RedisTrouble: Sendable {
  /// There is no connection to the node: the text says why, and `hint` what to do, if it is not to start the server.
  case unreachable(String, hint: String? = nil)
  /// The node does not answer: the text says so.
  case silent(String, hint: String? = nil)
  /// The cluster is changing or the server is starting: `message` is the server's.
  case busy(String)
  /// The change was made, but not every replica has it.
  case unconfirmed
}

extension CacheError {
  /// The error for an unusable URL.
  static func badURL(_ what: String, hint: String) -> CacheError {
    CacheError(.invalidOption, "option 'url': \(what)", hint: hint)
  }

  /// The error for a call on the store `store` that was retried until its time was up.
  ///
  /// - Parameter mayBeDone: whether a change was sent and not answered.
  init(_ trouble: RedisTrouble, store: String, mayBeDone: Bool) {
    switch trouble {
    case .unreachable(let message, let hint), .silent(let message, let hint):
      let error = CacheError(
        .unreachable, "\(store): the server cannot be reached: \(message)",
        hint: hint ?? "start the server, or see the option url")
      self = error.noting(mayBeDone: mayBeDone)
    case .busy(let message):
      let error = CacheError(
        .busy, "\(store): the server cannot answer now: \(message)",
        hint: "try again later, or raise the option timeout")
      self = error.noting(mayBeDone: mayBeDone)
    case .unconfirmed:
      self.init(
        .unreachable, "\(store): the server made the change, but too few replicas have confirmed it in time",
        hint: "start the replicas, lower minimumReplicas, or set durability to normal; the change need not be repeated")
    }
  }

  /// The error for a call that, if `mayBeDone`, sent a change and got no answer.
  func noting(mayBeDone: Bool) -> CacheError {
    guard mayBeDone else { return self }
    let advice = "when the server answers again, see whether the change is there, or repeat the command"
    // A cancelled call has changed nothing.
    return CacheError(
      code == .cancelled ? .unreachable : code, "\(message), so it is not known whether the server made the change",
      hint: hint.isEmpty ? advice : "\(hint); \(advice)", cause: cause)
  }

  /// The error for `error`, which a retry would not fix, on the store `store`.
  init(_ error: RedisServerError, store: String) {
    if error.description.contains(RedisScript.damagedTally) {
      self = .damagedTally(store: store)
      return
    }
    if error.description.contains(RedisScript.lostTally) {
      self.init(.damaged, "\(store): the tally was lost, and does not count what the index has", hint: Self.removal)
      return
    }
    if error.description.contains(RedisScript.lostLines) {
      self = .lostLines(store: store)
      return
    }
    if error.description.contains(RedisScript.otherFormat) {
      self.init(
        .unsupportedFormat, "\(store): another version of the engine writes to the store",
        hint: "stop the programs of the other version, and open the store again", cause: nil)
      return
    }
    if error.word == "READONLY" {
      self.init(
        .permissionDenied, "\(store): the server is a replica, which takes no changes",
        hint: "name its master in the option url; Sentinels, or the backend rediscluster on a cluster, find it")
      return
    }
    let code = Self.code(of: error)
    // A server's message about a login may repeat it.
    let text = code == .permissionDenied && !Self.isDeniedToScript(error) ? String(error.word) : error.description
    self.init(code, "\(store): the server answers: \(text)", hint: Self.hint(for: code), cause: nil)
  }

  /// Whether a command of a script is not allowed to the user. The server gives no code for that.
  private static func isDeniedToScript(_ error: RedisServerError) -> Bool {
    error.description.hasPrefix("ERR The user executing the script can't ")
  }

  private static func code(of error: RedisServerError) -> Code {
    if isDeniedToScript(error) { return .permissionDenied }
    return switch error.word {
    case "NOAUTH", "WRONGPASS", "NOPERM", "DENIED": .permissionDenied
    case "OOM": .noSpace
    case "MISCONF", "NOREPLICAS": .ioFailed
    case "WRONGTYPE": .damaged
    default: .failed
    }
  }

  private static func hint(for code: Code) -> String {
    switch code {
    case .permissionDenied: "see the options user and password, and what the user may do on the server"
    case .noSpace: "raise the server's maxmemory, or lower the cache's maxBytes"
    case .ioFailed: "see the server's log: it does not take changes because it cannot keep them"
    case .damaged: "remove the damaged entry; where another program uses these keys, give another prefix"
    default: ""
    }
  }

  /// The error for a call that was cancelled while servers were silent.
  static let abandoned = CacheError(.cancelled, "the call was cancelled before the server answered")

  /// The error for a login that the server at `url` refuses. It omits the server's message, which may repeat the password.
  static func loginRefused(_ url: String) -> CacheError {
    CacheError(
      .permissionDenied, "\(url): the server refuses the user or the password",
      hint: "see the options user and password, or userFile and passwordFile")
  }

  /// What to do about damage of the index or the tally.
  private static let removal = "remove all entries of the store"

  /// The error for an unreadable tally.
  static func damagedTally(store: String) -> CacheError {
    CacheError(.damaged, "\(store): the tally cannot be read", hint: removal)
  }

  /// The error for an index or a tally of the wrong type.
  static func foreignTable(store: String) -> CacheError {
    CacheError(
      .damaged, "\(store): another program has made a key in the place of the index or the tally",
      hint: "if that program needs the key, give another prefix; otherwise remove all entries of the store")
  }

  /// The error for a listing from its beginning of an index that lacks lines.
  static func lostLines(store: String) -> CacheError {
    CacheError(.damaged, "\(store): the index lacks entries that the tally counts", hint: removal)
  }

  /// The error for something on the server that this engine cannot have written.
  static func undecodable(_ what: String, store: String, cause: (any Error)? = nil) -> CacheError {
    CacheError(.damaged, "\(store): \(what)", hint: "remove the entry, or give another prefix", cause: cause)
  }
}
