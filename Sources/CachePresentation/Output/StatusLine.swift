/// A remark for people about what is shown.
public struct StatusLine: Sendable, Hashable {
  /// The remark, on one line, safe for a terminal.
  public let text: String
  /// How it stands out.
  public let style: TextStyle

  /// The remark made of `parts`, joined by middle dots.
  public init(_ parts: [String], style: TextStyle = .dim) {
    self.text = TerminalText.line(parts.joined(separator: " · "))
    self.style = style
  }

  /// The line, with its line end.
  public func line(on screen: Screen) -> String { style.apply(text, hasColor: screen.hasColor) + "\n" }
}
