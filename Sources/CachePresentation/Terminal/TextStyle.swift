/// How a piece of text stands out.
public enum TextStyle: Sendable, Hashable {
  /// As any other text.
  case plain
  /// A heading.
  case bold
  /// Of lesser weight.
  case dim
  /// Well.
  case green
  /// To be noticed.
  case yellow
  /// Wrong.
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

  /// `text` in this style, by escape sequences where `hasColor` is set, else unchanged.
  public func apply(_ text: String, hasColor: Bool) -> String {
    guard hasColor, let parameter, !text.isEmpty else { return text }
    return "\u{1B}[\(parameter)m\(text)\u{1B}[0m"
  }
}
