/// What an engine answered that cannot be true.
public struct WrongAnswer: Error, Sendable, Hashable, CustomStringConvertible {
  /// A way of being wrong.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// An entry that must be there is not.
    case lost
    /// An entry that must be gone is still there, or one came that was never written.
    case unexpected
    /// The bytes are those of a version that was overwritten before the read began.
    case stale
    /// The bytes, or their number, are those of no version of the entry.
    case bytes
    /// The metadata is not what was written.
    case metadata
    /// The engine's own count is not the number of entries that were written.
    case count
    /// Entries came in another order than that of their keys.
    case order
  }

  /// How the answer is wrong.
  public let kind: Kind
  /// What is wrong, in one line without a final full stop, naming the key.
  public let message: String

  init(_ kind: Kind, _ message: String) { (self.kind, self.message) = (kind, message) }

  /// The message.
  public var description: String { message }
}
