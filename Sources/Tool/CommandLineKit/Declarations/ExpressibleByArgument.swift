/// A type whose values can be arguments of a command line.
///
/// An enumeration with strings as raw values needs no code: declare the conformance, and `CaseIterable` for help, error
/// messages and completion to list the allowed values.
public protocol ExpressibleByArgument: Sendable {
  /// The value spelled `argument`; `nil` if there is none.
  init?(argument: String)

  /// The spelling of the value when help shows it as a default.
  var defaultValueDescription: String { get }

  /// The spelling of all allowed values; empty if they cannot be listed.
  static var allValueStrings: [String] { get }

  /// How a shell completes a value of this type, unless the declaration says otherwise.
  static var defaultCompletionKind: CompletionKind { get }

  /// The expected value, to follow "expected", such as "a whole number"; `nil` if it would not help.
  static var argumentExpectation: String? { get }
}

extension ExpressibleByArgument {
  /// The value in a string interpolation.
  public var defaultValueDescription: String { "\(self)" }

  /// Empty: the values cannot be listed.
  public static var allValueStrings: [String] { [] }

  /// The listed values, or no completion.
  public static var defaultCompletionKind: CompletionKind {
    allValueStrings.isEmpty ? .default : .list(allValueStrings)
  }

  /// No description.
  public static var argumentExpectation: String? { nil }
}

extension ExpressibleByArgument where Self: CaseIterable {
  /// The spelling of all cases, in the order of their declaration.
  public static var allValueStrings: [String] { allCases.map(\.defaultValueDescription) }
}

extension ExpressibleByArgument where Self: RawRepresentable, RawValue: ExpressibleByArgument {
  /// The case whose raw value is spelled `argument`.
  public init?(argument: String) {
    guard let rawValue = RawValue(argument: argument) else { return nil }
    self.init(rawValue: rawValue)
  }

  /// The spelling of the raw value.
  public var defaultValueDescription: String { rawValue.defaultValueDescription }
}

extension String: ExpressibleByArgument {
  /// The text itself.
  public init?(argument: String) { self = argument }
}

extension Bool: ExpressibleByArgument {
  /// `true` or `false`.
  public init?(argument: String) { self.init(argument) }

  /// The spelling of both values.
  public static var allValueStrings: [String] { ["true", "false"] }
}

extension ExpressibleByArgument where Self: FixedWidthInteger {
  /// The number written in decimal digits, with an optional sign.
  public init?(argument: String) { self.init(argument, radix: 10) }

  /// The range of the numbers, unless it is too wide to be of interest.
  public static var argumentExpectation: String? {
    if Self.bitWidth < 32 { return "a whole number from \(Self.min) to \(Self.max)" }
    return Self.isSigned ? "a whole number" : "a whole number, 0 or more"
  }
}

extension Int: ExpressibleByArgument {}
extension UInt8: ExpressibleByArgument {}
extension UInt64: ExpressibleByArgument {}

extension Double: ExpressibleByArgument {
  /// The number in decimal notation, such as `0.25` or `1e6`.
  public init?(argument: String) { self.init(argument) }

  /// A number.
  public static var argumentExpectation: String? { "a number" }
}
