/// What an engine did and should not have done.
public struct ConformanceFailure: Error, Sendable, CustomStringConvertible {
  /// What was expected and what was got, in one line without a final full stop.
  public let message: String

  /// A failure with the message `message`.
  public init(_ message: String) { self.message = message }

  /// The message.
  public var description: String { message }
}
