/// A message of a command besides its data, on the standard error.
public enum Diagnostic: Sendable, Hashable {
  /// Why the command failed.
  case error(ErrorView)
  /// A problem that did not stop the command.
  case warning(ErrorView)
  /// A remark about what was printed or done.
  case status(StatusLine)
  /// A detail of what is used or done, under its topic, which `--verbose` adds.
  case detail(topic: String, text: String)
  /// A yes-or-no question.
  case question(String)

  /// The text for people: a line; a question has no line end.
  public func text(on screen: Screen) -> String {
    switch self {
    case .error(let view): view.errorLine(on: screen)
    case .warning(let view): view.warningLine(on: screen)
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
