/// What an engine did against the contract.
public struct ConformanceFailure: Error, Sendable, CustomStringConvertible {
  /// The expected and the actual behaviour, in one line without a final full stop.
  public let message: String

  /// A failure with the message `message`.
  public init(_ message: String) { self.message = message }

  /// The message.
  public var description: String { message }
}
