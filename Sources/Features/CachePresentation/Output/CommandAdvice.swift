internal import FetchVocabulary

/// The commands that help after a failure, by its code. The libraries below know no command and say only what went wrong.
enum CommandAdvice {
  /// What to do about `error`: its own hint if it has one, otherwise the command that helps; empty if there is none.
  ///
  /// - Parameter backend: the engine of the store that failed; `nil` for the configured one.
  static func hint(for error: CacheError, backend: String?) -> String {
    // The library's hint about another type is for programmers.
    guard error.hint.isEmpty || error.code == .wrongType else { return error.hint }
    return command(after: error.code, key: error.key, backend)
  }

  private static func command(after code: CacheError.Code, key: String?, _ backend: String?) -> String {
    let program = backend.map { "cachectl --backend \($0)" } ?? "cachectl"
    return switch code {
    case .damaged:
      key.map { "remove it with: \(program) rm \($0)" } ?? "save what can be read with: \(program) verify --repair"
    case .wrongType:
      key.map { "fetch it again with --refresh, or remove it with: \(program) rm \($0)" } ?? ""
    case .notCached: "fetch it once without --offline"
    case .insecure: "name the certificates to trust with --cacert FILE"
    case .invalidOption: "see the options with: cachectl backends show \(backend ?? "NAME")"
    case .invalidPlugin: "see: cachectl backends list"
    default: ""
    }
  }
}
