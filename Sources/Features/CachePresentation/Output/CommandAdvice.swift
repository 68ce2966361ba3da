internal import FetchVocabulary

/// The commands that help after a failure, by its code. The libraries below know no command and say only what went wrong.
enum CommandAdvice {
  /// What to do about `error`: its own hint if it has one, otherwise the command that helps; empty if there is none.
  static func hint(for error: CacheError) -> String {
    error.hint.isEmpty ? command(after: error.code, key: error.key) : error.hint
  }

  private static func command(after code: CacheError.Code, key: String?) -> String {
    switch code {
    case .damaged:
      key.map { "remove it with: cachectl rm \($0)" } ?? "save what can be read with: cachectl verify --repair"
    case .notCached: "fetch it once without --offline"
    case .invalidOption: "see the options with: cachectl backends show NAME"
    case .invalidPlugin: "see: cachectl backends list"
    default: ""
    }
  }
}
