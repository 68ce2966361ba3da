/// Something that a command says beside its data, on the standard error.
public enum Diagnostic: Sendable, Hashable {
  /// Why the command failed.
  case error(ErrorView)
  /// What did not keep the command from its work, but ought to be known.
  case warning(ErrorView)
  /// A remark about what was printed or done.
  case status(StatusLine)
  /// What `--verbose` adds: what is used or done, and under which topic.
  case detail(topic: String, text: String)
  /// A question to be answered by yes or no.
  case question(String)

  /// The text for people: a line, which a question does not end.
  public func text(on screen: Screen) -> String {
    switch self {
    case .error(let view): view.errorLine(on: screen)
    case .warning(let view): view.warningLine(on: screen)
    case .status(let status): status.line(on: screen)
    case .detail(let topic, let text): StatusLine(["\(topic): \(text)"]).line(on: screen)
    case .question(let text): "\(TerminalText.line(text)) [y/N] "
    }
  }

  /// The object for programs, with one member, which is called like the kind.
  public var json: JSONValue {
    switch self {
    case .error(let view): ["error": view.json]
    case .warning(let view): ["warning": view.json]
    case .status(let status): ["status": ["message": .string(status.text)]]
    case .detail(let topic, let text): ["detail": ["topic": .string(topic), "message": .string(text)]]
    case .question(let text): ["question": ["message": .string(text)]]
    }
  }
}
