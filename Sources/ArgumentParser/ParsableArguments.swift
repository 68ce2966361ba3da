/// Options, flags and arguments that can be read from a command line.
///
/// Every stored property is declared with `@Option`, `@Flag`, `@Argument` or `@OptionGroup`. `Decodable` is synthesised;
/// it is how the parser hands over the values.
public protocol ParsableArguments: Decodable, SendableMetatype {
  /// The declarations, with their defaults. The parser calls it; a program has no reason to.
  init()

  /// Checks what no single declaration can express, such as two options that exclude each other.
  ///
  /// - Throws: what is wrong.
  mutating func validate() throws(ValidationError)
}

extension ParsableArguments {
  /// Finds nothing wrong.
  public mutating func validate() throws(ValidationError) {}
}

/// A combination of values that makes no sense.
public struct ValidationError: Error, Sendable, Hashable {
  /// What is wrong, in one line without a final full stop.
  public let message: String

  /// An error that says `message`.
  public init(_ message: String) { self.message = message }
}
