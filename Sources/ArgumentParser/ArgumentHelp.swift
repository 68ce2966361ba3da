/// What help says of an option, a flag or an argument.
public struct ArgumentHelp: Sendable, Hashable, ExpressibleByStringInterpolation {
  /// What it is for, in one line.
  public let abstract: String
  /// The word that stands for the value, such as `file`; `nil` for the name of the property.
  public let valueName: String?

  /// Help that says `abstract`, and calls the value `valueName`.
  public init(_ abstract: String = "", valueName: String? = nil) {
    self.abstract = abstract
    self.valueName = valueName
  }

  /// Help that says `value`.
  public init(stringLiteral value: String) { self.init(value) }
}
