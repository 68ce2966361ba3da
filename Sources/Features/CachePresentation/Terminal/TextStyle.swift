/// The style of a piece of text.
public enum TextStyle: Sendable, Hashable {
  /// Like ordinary text.
  case plain
  /// A heading.
  case bold
  /// For details.
  case dim
  /// For success.
  case green
  /// For attention.
  case yellow
  /// For failure.
  case red

  /// The parameter of "select graphic rendition" (ECMA-48, 8.3.117); `nil` for plain text.
  private var parameter: Int? {
    switch self {
    case .plain: nil
    case .bold: 1
    case .dim: 2
    case .green: 32
    case .yellow: 33
    case .red: 31
    }
  }

  /// `text` in this style: with escape sequences if `hasColor` is set, otherwise unchanged.
  public func apply(_ text: String, hasColor: Bool) -> String {
    guard hasColor, let parameter, !text.isEmpty else { return text }
    return "\u{1B}[\(parameter)m\(text)\u{1B}[0m"
  }
}
