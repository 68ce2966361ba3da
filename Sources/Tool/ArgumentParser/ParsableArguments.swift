/// Options, flags and arguments to be read from a command line.
///
/// Declare every stored property with `@Option`, `@Flag`, `@Argument` or `@OptionGroup`. `Decodable` is synthesised;
/// the parser uses it to set the values.
public protocol ParsableArguments: Decodable, SendableMetatype {
  /// Makes the declarations, with their defaults. The parser calls it; a program has no reason to.
  init()

  /// Checks what no single declaration can express, such as two options that exclude each other.
  ///
  /// - Throws: the contradiction.
  mutating func validate() throws(ValidationError)
}

extension ParsableArguments {
  /// Accepts all values.
  public mutating func validate() throws(ValidationError) {}
}

/// A contradiction between values.
public struct ValidationError: Error, Sendable, Hashable {
  /// The contradiction, in one line without a final full stop.
  public let message: String

  /// An error with the message `message`.
  public init(_ message: String) { self.message = message }
}
