/// The error that engines, the cache and its features throw: the kind of failure, a message for users, and the
/// underlying cause.
///
/// An absent entry is `nil`, not an error. Every failure is an error, and never looks like an absent entry.
public struct CacheError: Error, Sendable {
  /// A kind of failure: one of the registry in `CacheError+Codes.swift`, or a code that an engine or a program adds.
  /// An unknown code means that its engine failed, like `failed`.
  public struct Code: RawRepresentable, Sendable, Hashable {
    /// The code's name, in camel case.
    public let rawValue: String

    /// The code called `rawValue`.
    public init(rawValue: String) { self.rawValue = rawValue }
  }

  /// The kind of failure.
  public let code: Code

  /// What went wrong, in one line without a final full stop, naming the file or key.
  public let message: String

  /// What to do about it, in one line; empty if there is no advice. An engine's or a library's hint names no command:
  /// the program adds its own commands, by the code.
  public let hint: String

  /// The key of the entry whose removal would end the failure; `nil` if there is no such entry.
  public let key: String?

  /// The underlying error, if there is one.
  public let cause: (any Error)?

  /// Creates an error; `message` and `hint` are one line each.
  public init(_ code: Code, _ message: String, hint: String = "", key: String? = nil, cause: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.hint = hint
    self.key = key
    self.cause = cause
  }

  /// The error of a call whose task was cancelled.
  public static var cancelled: CacheError { CacheError(.cancelled, "cancelled") }
}

extension CacheError: CustomStringConvertible {
  /// The code, the message and the hint in one line.
  public var description: String {
    "\(code.rawValue): \(message)" + (hint.isEmpty ? "" : ": \(hint)")
  }
}
