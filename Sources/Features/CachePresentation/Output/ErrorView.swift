public import FetchVocabulary

/// A failure as people and scripts see it: of what a message quotes, they see no more than `MessageText` allows.
public struct ErrorView: Sendable, Hashable {
  /// The kind of the failure, in camel case.
  public let code: String
  /// What went wrong, in one line without a final full stop.
  public let message: String
  /// What to do about it; empty if there is no advice.
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

  /// The line `what went wrong: what to do about it`, without its line end.
  public var line: String {
    let parts = [MessageText.message(message), MessageText.hint(hint)].filter { !$0.isEmpty }
    return TerminalText.line(parts.joined(separator: ": "))
  }

  /// The line `cachectl: what went wrong: what to do about it`, with its line end.
  public func errorLine(on screen: Screen) -> String { line("cachectl:", .red, screen) }

  /// The line `cachectl: warning: what went wrong: what to do about it`, with its line end.
  public func warningLine(on screen: Screen) -> String { line("cachectl: warning:", .yellow, screen) }

  private func line(_ prefix: String, _ style: TextStyle, _ screen: Screen) -> String {
    "\(style.apply(prefix, hasColor: screen.hasColor)) \(line)\n"
  }
}
