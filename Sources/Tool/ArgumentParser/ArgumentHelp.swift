/// The help for an option, a flag or an argument.
public struct ArgumentHelp: Sendable, Hashable, ExpressibleByStringInterpolation {
  /// Its purpose, in one line.
  public let abstract: String
  /// The placeholder for the value, such as `file`; `nil` for the name of the property.
  public let valueName: String?

  /// Help with the text `abstract` and the placeholder `valueName`.
  public init(_ abstract: String = "", valueName: String? = nil) {
    self.abstract = abstract
    self.valueName = valueName
  }

  /// Help with the text `value`.
  public init(stringLiteral value: String) { self.init(value) }
}
