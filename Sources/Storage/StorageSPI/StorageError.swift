/// The only error that engines throw: the kind of failure, a message for users, and the underlying cause.
///
/// An absent entry is `nil`, not an error. Every failure is an error, and never looks like an absent entry.
public struct StorageError: Error, Sendable {
  /// A kind of failure. Engines may add their own; callers treat an unknown one like `failed`.
  public struct Code: RawRepresentable, Sendable, Hashable {
    /// The code's name, in camel case.
    public let rawValue: String

    /// The code called `rawValue`.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The text is not a valid key.
    public static let invalidKey = Code(rawValue: "invalidKey")
    /// An option of the engine is missing, of the wrong type or out of range.
    public static let invalidOption = Code(rawValue: "invalidOption")
    /// The store or an entry is damaged: its content cannot be what was written.
    public static let damaged = Code(rawValue: "damaged")
    /// The store has a format version that this engine cannot read.
    public static let unsupportedFormat = Code(rawValue: "unsupportedFormat")
    /// The store does not exist and cannot be created.
    public static let cannotCreate = Code(rawValue: "cannotCreate")
    /// The operating system or the server refuses access.
    public static let permissionDenied = Code(rawValue: "permissionDenied")
    /// There is no room for the data to be written; nothing was changed.
    public static let noSpace = Code(rawValue: "noSpace")
    /// Reading or writing failed for another reason; nothing was changed.
    public static let ioFailed = Code(rawValue: "ioFailed")
    /// Another process held the store for longer than the time-out.
    public static let busy = Code(rawValue: "busy")
    /// The engine's server cannot be reached.
    public static let unreachable = Code(rawValue: "unreachable")
    /// A requirement of the batch did not hold; nothing was changed.
    public static let conflict = Code(rawValue: "conflict")
    /// The entry is larger than the engine can hold.
    public static let tooLarge = Code(rawValue: "tooLarge")
    /// The store would hold more than its bounds allow; nothing was changed.
    public static let overBounds = Code(rawValue: "overBounds")
    /// The engine does not support the operation.
    public static let unsupported = Code(rawValue: "unsupported")
    /// The engine was closed before the call.
    public static let closed = Code(rawValue: "closed")
    /// The calling task was cancelled; nothing was changed.
    public static let cancelled = Code(rawValue: "cancelled")
    /// Any other failure, or a defect of the engine.
    public static let failed = Code(rawValue: "failed")
  }

  /// The kind of failure.
  public let code: Code

  /// What went wrong, in one line without a final full stop, naming the file or key.
  public let message: String

  /// What to do about it, in one line; empty if there is no advice.
  public let hint: String

  /// The underlying error, if there is one.
  public let cause: (any Error)?

  /// An error; `message` and `hint` are one line each.
  public init(_ code: Code, _ message: String, hint: String = "", cause: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.hint = hint
    self.cause = cause
  }
}

extension StorageError: CustomStringConvertible {
  /// The code, the message and the hint in one line.
  public var description: String {
    "\(code.rawValue): \(message)" + (hint.isEmpty ? "" : ": \(hint)")
  }
}
