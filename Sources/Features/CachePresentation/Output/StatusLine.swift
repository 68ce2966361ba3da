/// A remark for people about the output.
public struct StatusLine: Sendable, Hashable {
  /// The remark, on one line, safe for a terminal.
  public let text: String
  /// The style of the remark.
  public let style: TextStyle

  /// The remark made of `parts`, joined by middle dots.
  public init(_ parts: [String], style: TextStyle = .dim) {
    // `joined(separator:)` would make the runtime instantiate generic types for this one line of each fetch.
    var text = ""
    for part in parts { text += text.isEmpty ? part : " · \(part)" }
    self.text = TerminalText.line(text)
    self.style = style
  }

  /// The remark with its line end, broken between words if `screen` is narrower.
  public func line(on screen: Screen) -> String {
    guard let width = screen.width else { return style.apply(text, hasColor: screen.hasColor) + "\n" }
    return LineWrap.lines(text, width: width).map { style.apply($0, hasColor: screen.hasColor) + "\n" }.joined()
  }

  /// The remark cut to one line of `screen`, without a line end: for a line that is redrawn in place.
  public func cut(to screen: Screen) -> String {
    style.apply(DisplayWidth.truncated(text, to: screen.width ?? 80), hasColor: screen.hasColor)
  }
}
