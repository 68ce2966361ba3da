/// A type whose values can be written as one argument of a command line.
///
/// An enumeration with text as its raw values needs no code: declaring the conformance, and `CaseIterable` so that the
/// allowed values appear in help, error messages and completion, is enough.
public protocol ExpressibleByArgument: Sendable {
  /// The value written as `argument`; `nil` where the text is no such value.
  init?(argument: String)

  /// How the value is written where help shows a default.
  var defaultValueDescription: String { get }

  /// All values that are allowed, as they are written; empty where they cannot be listed.
  static var allValueStrings: [String] { get }

  /// How a shell completes a value of this type where the declaration does not say.
  static var defaultCompletionKind: CompletionKind { get }

  /// What is expected, to go on after "expected", such as "a whole number"; `nil` where nothing useful can be said.
  static var argumentExpectation: String? { get }
}

extension ExpressibleByArgument {
  /// The value as string interpolation shows it.
  public var defaultValueDescription: String { "\(self)" }

  /// Empty: the values cannot be listed.
  public static var allValueStrings: [String] { [] }

  /// The listed values, or nothing in particular.
  public static var defaultCompletionKind: CompletionKind {
    allValueStrings.isEmpty ? .default : .list(allValueStrings)
  }

  /// Nothing.
  public static var argumentExpectation: String? { nil }
}

extension ExpressibleByArgument where Self: CaseIterable {
  /// The cases, as they are written, in the order of their declaration.
  public static var allValueStrings: [String] { allCases.map(\.defaultValueDescription) }
}

extension ExpressibleByArgument where Self: RawRepresentable, RawValue: ExpressibleByArgument {
  /// The value whose raw value is written as `argument`.
  public init?(argument: String) {
    guard let rawValue = RawValue(argument: argument) else { return nil }
    self.init(rawValue: rawValue)
  }

  /// The raw value, as it is written.
  public var defaultValueDescription: String { rawValue.defaultValueDescription }
}

extension String: ExpressibleByArgument {
  /// The text itself.
  public init?(argument: String) { self = argument }
}

extension Bool: ExpressibleByArgument {
  /// `true` or `false`.
  public init?(argument: String) { self.init(argument) }

  /// Both values, as they are written.
  public static var allValueStrings: [String] { ["true", "false"] }
}

extension ExpressibleByArgument where Self: FixedWidthInteger {
  /// The number written in decimal digits, with an optional sign.
  public init?(argument: String) { self.init(argument, radix: 10) }

  /// The range of the numbers, unless it is too wide to matter.
  public static var argumentExpectation: String? {
    if Self.bitWidth < 32 { return "a whole number from \(Self.min) to \(Self.max)" }
    return Self.isSigned ? "a whole number" : "a whole number, 0 or more"
  }
}

extension Int: ExpressibleByArgument {}
extension Int8: ExpressibleByArgument {}
extension Int16: ExpressibleByArgument {}
extension Int32: ExpressibleByArgument {}
extension Int64: ExpressibleByArgument {}
extension UInt: ExpressibleByArgument {}
extension UInt8: ExpressibleByArgument {}
extension UInt16: ExpressibleByArgument {}
extension UInt32: ExpressibleByArgument {}
extension UInt64: ExpressibleByArgument {}

extension Double: ExpressibleByArgument {
  /// The number written in decimal, such as `0.25` or `1e6`.
  public init?(argument: String) { self.init(argument) }

  /// A number.
  public static var argumentExpectation: String? { "a number" }
}
