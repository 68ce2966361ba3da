internal import CacheBase
internal import EngineAPI

/// Why a connection cannot be used any longer.
struct RedisBreak: Error {
  let reason: String
  /// The hint, if it is not to start the server.
  let hint: String?
  /// Whether the server has not responded in time, rather than refused or ended the connection.
  let isSilence: Bool

  init(_ reason: String, hint: String? = nil, isSilence: Bool = false) {
    self.reason = reason
    self.hint = hint
    self.isSilence = isSilence
  }

  /// The server has not responded in time.
  static let silence = RedisBreak(
    "no reply in time", hint: "start the server, or raise the option timeout", isSilence: true)

  /// The error of the last call of the system.
  static var ofSystem: RedisBreak { RedisBreak(String(cString: strerror(errno))) }
}

/// Why a connection has no reply to commands. The connection is closed.
enum RedisDisconnection: Error, Sendable {
  /// The server was sent nothing of them.
  case notSent(CacheError)
  /// They were sent, at least in part: the server might have executed them.
  case unanswered(CacheError)

  /// The error itself.
  var error: CacheError {
    switch self {
    case .notSent(let error), .unanswered(let error): error
    }
  }
}

extension CacheError {
  /// The error for an unusable URL.
  static func badURL(_ what: String, hint: String) -> CacheError {
    CacheError(.invalidOption, "option 'url': \(what)", hint: hint)
  }

  /// The error for the server at `url`, which cannot be reached for `reason`.
  static func unreachable(
    _ url: String, _ reason: String, hint: String? = nil, cause: RedisBreak? = nil
  ) -> CacheError {
    CacheError(
      .unreachable, "\(url): the server cannot be reached: \(reason)",
      hint: hint ?? "start the server, or see the option url", cause: cause)
  }

  /// The error for the server at `url`, to which the connection has ended.
  static func unreachable(_ url: String, _ reason: RedisBreak) -> CacheError {
    unreachable(url, reason.reason, hint: reason.hint, cause: reason)
  }

  /// The error for the server at `url`, which refuses a new connection, because it takes no more clients, or none from outside.
  static func refused(_ url: String, _ error: RedisServerError) -> CacheError {
    unreachable(url, "it replies: \(error)", hint: "see the server's configuration")
  }

  /// Whether the server has not responded in time: later calls should not wait for it too.
  var isOfSilence: Bool { (cause as? RedisBreak)?.isSilence == true }

  /// The error for a change that was sent but got no reply.
  var notingThatItMayBeDone: CacheError {
    let advice = "when the server responds again, see whether the change is there, or repeat the command"
    // A cancelled call has changed nothing.
    return CacheError(
      code == .cancelled ? .unreachable : code, "\(message), so it is not known whether the server made the change",
      hint: hint.isEmpty ? advice : "\(hint); \(advice)", cause: cause)
  }

  /// The error for `error`, which a retry would not fix, on the store `store`.
  init(_ error: RedisServerError, store: String) {
    if error.word == "READONLY" {
      self.init(
        .permissionDenied, "\(store): the server is a replica, which takes no changes",
        hint: "name its master in the option url; Sentinels, or a node of a cluster, find it")
      return
    }
    let code = Self.code(of: error)
    // A server's message about a login might repeat it. One about a command or a key says what the user must not do.
    let isAboutLogin = code == .permissionDenied && error.word != "NOPERM" && !Self.isDeniedToScript(error)
    let text = isAboutLogin ? String(error.word) : error.description
    self.init(code, "\(store): the server replies: \(text)", hint: Self.hint(for: code), cause: nil)
  }

  /// Whether a command of a script is not allowed to the user. The server gives no code for that.
  private static func isDeniedToScript(_ error: RedisServerError) -> Bool {
    error.description.hasPrefix("ERR The user executing the script can't ")
  }

  private static func code(of error: RedisServerError) -> Code {
    if isDeniedToScript(error) { return .permissionDenied }
    return switch error.word {
    case "NOAUTH", "WRONGPASS", "NOPERM", "DENIED": .permissionDenied
    case "LOADING", "BUSY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "MOVED", "ASK": .busy
    case "OOM": .noSpace
    case "MISCONF", "NOREPLICAS": .ioFailed
    case "WRONGTYPE": .damaged
    default: .failed
    }
  }

  private static func hint(for code: Code) -> String {
    switch code {
    case .permissionDenied: "see the options user and password, and what the user is allowed to do on the server"
    case .busy: "try again later, or raise the option timeout"
    case .noSpace: "raise the server's maxmemory, or set its maxmemory-policy to allkeys-lru"
    case .ioFailed: "see the server's log: it does not take changes because it cannot keep them"
    case .damaged: "remove the damaged entry; if another program uses these keys, give another prefix"
    default: ""
    }
  }
}
