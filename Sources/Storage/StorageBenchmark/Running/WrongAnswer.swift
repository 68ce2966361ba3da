/// An impossible answer of an engine.
public struct WrongAnswer: Error, Sendable, Hashable, CustomStringConvertible {
  /// The way in which an answer is wrong.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// An entry that must exist is missing.
    case lost
    /// An entry that must be gone still exists, or an entry appeared that was never written.
    case unexpected
    /// The bytes belong to a version that was overwritten before the read began.
    case stale
    /// The bytes, or their number, belong to no version of the entry.
    case bytes
    /// The metadata differs from what was written.
    case metadata
    /// The engine's own count differs from the number of entries written.
    case count
    /// Entries came in an order other than that of their keys.
    case order
  }

  /// How the answer is wrong.
  public let kind: Kind
  /// The fault, in one line without a final full stop, naming the key.
  public let message: String

  init(_ kind: Kind, _ message: String) { (self.kind, self.message) = (kind, message) }

  /// The message.
  public var description: String { message }
}
