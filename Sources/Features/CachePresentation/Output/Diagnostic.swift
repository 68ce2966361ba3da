public import FetchVocabulary
internal import CacheBase

/// A message of a command besides its data, on stderr.
public enum Diagnostic: Sendable, Hashable {
  /// Why the command failed.
  case error(ErrorView)
  /// A problem that did not stop the command.
  case warning(ErrorView)
  /// A remark about the output or the work.
  case status(StatusLine)
  /// A detail about the work, under its topic, which `--verbose` adds.
  case detail(topic: String, text: String)
  /// A yes-or-no question.
  case question(String)

  /// The text for people: a line, and one for a hint; a question has no line end.
  public func text(on screen: Screen) -> String {
    switch self {
    case .error(let view): view.text(after: "cachectl:", .red, screen)
    case .warning(let view): view.text(after: "cachectl: warning:", .yellow, screen)
    case .status(let status): status.line(on: screen)
    case .detail(let topic, let text): StatusLine(["\(topic): \(MessageText.hint(text))"]).line(on: screen)
    case .question(let text): "\(TerminalText.line(text)) [y/N] "
    }
  }

  /// The object for programs; its only member is named after the kind.
  public var json: JSONValue {
    switch self {
    case .error(let view): ["error": view.json]
    case .warning(let view): ["warning": view.json]
    case .status(let status): ["status": ["message": .string(status.text)]]
    case .detail(let topic, let text):
      ["detail": ["topic": .string(topic), "message": .string(MessageText.hint(text))]]
    case .question(let text): ["question": ["message": .string(text)]]
    }
  }
}

/// A failure as people and scripts see it: of what a message quotes, they see no more than `MessageText` allows.
public struct ErrorView: Sendable, Hashable {
  /// The kind of the failure, in camel case.
  public let code: String
  /// The problem, in one line without a final full stop.
  public let message: String
  /// Advice; empty if there is none.
  public let hint: String

  /// A failure with its kind, message and hint.
  public init(code: String, message: String, hint: String = "") {
    self.code = code
    self.message = message
    self.hint = hint
  }

  /// The failure `error`, with the command that helps if it has no hint of its own, and the full names of settings.
  ///
  /// - Parameter backend: the engine of the store that failed; `nil` for the configured one.
  public init(_ error: CacheError, backend: String? = nil) {
    self.init(
      code: error.code.rawValue, message: SettingNames.completed(in: error.message),
      hint: SettingNames.completed(in: CommandAdvice.hint(for: error, backend: backend)))
  }

  /// This failure without what `earlier` ones have already said: if it ends with the message of one of them, that message and
  /// its hint are left out. `nil` if nothing is left.
  public func news(after earlier: [ErrorView]) -> ErrorView? {
    let isKnown = earlier.contains { $0 == self || $0.hint == hint && $0.message.hasSuffix(": \(message)") }
    if isKnown { return nil }
    let causes = earlier.filter { message.hasSuffix(": \($0.message)") }
    guard let cause = causes.max(by: { $0.message.count < $1.message.count }) else { return self }
    let rest = String(message.dropLast(cause.message.count + 2))
    return ErrorView(code: code, message: rest, hint: hint == cause.hint ? "" : hint)
  }

  /// The object `{"code", "message", "hint"}`; `hint` is null if there is none.
  public var json: JSONValue {
    [
      "code": .string(code), "message": .string(MessageText.message(message)),
      "hint": hint.isEmpty ? .null : .string(MessageText.hint(hint)),
    ]
  }

  /// The message, and the hint on a second line, each with its line end.
  public var text: String {
    let message = MessageText.message(message)
    let hint = MessageText.hint(hint)
    if message.isEmpty || hint.isEmpty { return TerminalText.line(message + hint) + "\n" }
    return "\(TerminalText.line(message))\n  hint: \(TerminalText.line(hint))\n"
  }

  /// `text` after `prefix`.
  fileprivate func text(after prefix: String, _ style: TextStyle, _ screen: Screen) -> String {
    "\(style.apply(prefix, hasColor: screen.hasColor)) \(text)"
  }
}

/// The commands that help after a failure, by its code. The libraries below know no command and say only what went wrong.
enum CommandAdvice {
  /// Advice about `error`: its own hint if it has one, otherwise the command that helps; empty if there is none.
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
      key.map { "remove it with: \(program) rm \($0); or save the rest with: \(program) verify --repair" }
        ?? "save what can be read with: \(program) verify --repair"
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

/// Keeps messages short: what they quote is as long as a server or a command line makes it.
enum MessageText {
  /// The longest part of a message without a space, such as a path, a URL or a header field, in Unicode scalars.
  static let longestWord = 200
  /// The longest message, in Unicode scalars.
  static let longestMessage = 1_000
  /// The longest hint, in Unicode scalars. Its words stay whole: a command in it is there to be copied.
  static let longestHint = 4_000

  static func message(_ text: String) -> String {
    guard text.utf8.count > longestWord else { return text }
    let words = text.split(separator: " ", omittingEmptySubsequences: false).map { cut(String($0), to: longestWord) }
    return cut(words.joined(separator: " "), to: longestMessage)
  }

  static func hint(_ text: String) -> String { cut(text, to: longestHint) }

  /// `text` cut in the middle, because the end of a path or a URL says more than its middle, to at most `limit` Unicode
  /// scalars.
  private static func cut(_ text: String, to limit: Int) -> String {
    let scalars = text.unicodeScalars
    guard text.utf8.count > limit, scalars.count > limit else { return text }
    // A mark would combine with the sign of the cut.
    let end = scalars.suffix(limit - limit / 2 - 1).drop { $0.properties.isGraphemeExtend }
    return "\(String(scalars.prefix(limit / 2)))…\(String(end))"
  }
}

/// The settings that the errors of libraries mention, by their full names: a library knows no section of the
/// configuration.
enum SettingNames {
  /// The limits of a store, which are in the section `cache`.
  private static let limits = ["maxEntries", "maxBytes", "maxEntryBytes"]

  /// `text` with the full names of settings: `cache.maxBytes` for the word maxBytes, and `'backends.b.a'` for
  /// "option 'a' of backend b".
  static func completed(in text: String) -> String {
    guard limits.contains(where: text.holds) || text.holds("' of backend ") else { return text }
    let words = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    var (result, index) = ([String](), 0)
    while index < words.count {
      if let name = option(words[index...]) {
        if result.last == "the" { result.removeLast() }
        result.append(name)
        index += 5
      } else {
        result.append(limit(words[index]))
        index += 1
      }
    }
    return result.joined(separator: " ")
  }

  /// The setting that `words` begin with, as in "option 'path' of backend NAME, ..."; `nil` if they begin otherwise.
  private static func option(_ words: ArraySlice<String>) -> String? {
    let words = Array(words.prefix(5))
    guard words.count == 5, words[0] == "option", words[2] == "of", words[3] == "backend", words[1].utf8.count > 2,
      words[1].hasPrefix("'"), words[1].hasSuffix("'")
    else { return nil }
    let engine = words[4].utf8.prefix { $0.isASCIILetterOrDigit }
    let rest = words[4].utf8.dropFirst(engine.count)
    return "'backends.\(Substring(engine)).\(words[1].dropFirst().dropLast())'\(Substring(rest))"
  }

  private static func limit(_ word: String) -> String {
    let begins = word.utf8.drop { $0 == UInt8(ascii: "(") }
    let name = begins.prefix { $0.isASCIILetterOrDigit }
    let rest = begins.dropFirst(name.count)
    guard limits.contains(where: { $0.utf8.elementsEqual(name) }), rest.allSatisfy({ "),;:".utf8.contains($0) }) else {
      return word
    }
    return "\(word.utf8.count > begins.count ? "(" : "")cache.\(Substring(name))\(Substring(rest))"
  }
}
