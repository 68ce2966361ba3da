/// The error that engines, the cache and its features throw: the kind of failure, a message for users, and the
/// underlying cause.
///
/// An absent entry is `nil`, not an error. Every failure is an error, and never looks like an absent entry.
public struct CacheError: Error, Sendable {
  /// A kind of failure: one of the registry below, or a code that an engine or a program adds.
  /// An unknown code means that its engine failed, like `failed`.
  public struct Code: RawRepresentable, Sendable, Hashable {
    /// The code's name, in camel case.
    public let rawValue: String

    /// The code called `rawValue`.
    public init(rawValue: String) { self.rawValue = rawValue }
  }

  /// The kind of failure.
  public let code: Code

  /// The problem in one line, without a final full stop. It names the file or key.
  public let message: String

  /// Advice in one line; empty if there is none. An engine's or a library's hint names no command: the program adds its
  /// own commands, by the code.
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

/// The registry of codes: every code that this project throws.
///
/// A name is part of the interface. Scripts read it in JSON output, and processes that share a store pass it on.
extension CacheError.Code {
  // MARK: Stores

  /// The text is not a valid key.
  public static let invalidKey = Self(rawValue: "invalidKey")
  /// The store or an entry is damaged: its content differs from the written content.
  public static let damaged = Self(rawValue: "damaged")
  /// The store has a format version that this engine cannot read.
  public static let unsupportedFormat = Self(rawValue: "unsupportedFormat")
  /// The store, file or folder does not exist and cannot be created; or it belongs to someone else.
  public static let cannotCreate = Self(rawValue: "cannotCreate")
  /// The operating system or the server refuses access.
  public static let permissionDenied = Self(rawValue: "permissionDenied")
  /// There is no room for the data to be written; nothing was changed.
  public static let noSpace = Self(rawValue: "noSpace")
  /// Reading or writing failed for another reason; nothing was changed.
  public static let ioFailed = Self(rawValue: "ioFailed")
  /// Another process held the store for longer than the timeout.
  public static let busy = Self(rawValue: "busy")
  /// The engine's server cannot be reached.
  public static let unreachable = Self(rawValue: "unreachable")
  /// A requirement of the batch did not hold, such as an entry that has changed since it was read; nothing was changed.
  public static let conflict = Self(rawValue: "conflict")
  /// The entry is larger than the engine or the cache can hold.
  public static let tooLarge = Self(rawValue: "tooLarge")
  /// The store would hold more than its bounds allow; nothing was changed.
  public static let overBounds = Self(rawValue: "overBounds")
  /// The entry is intact, and holds a value of another type.
  public static let wrongType = Self(rawValue: "wrongType")
  /// The entry is sealed with a key other than the configured one.
  public static let wrongKey = Self(rawValue: "wrongKey")
  /// The entry is not sealed, and this cache serves only sealed ones.
  public static let notSealed = Self(rawValue: "notSealed")
  /// The engine does not support the operation.
  public static let unsupported = Self(rawValue: "unsupported")
  /// The engine was closed before the call: a defect of the caller.
  public static let closed = Self(rawValue: "closed")
  /// Any other failure, or a defect of the engine.
  public static let failed = Self(rawValue: "failed")
  /// The calling task was cancelled; nothing was changed.
  public static let cancelled = Self(rawValue: "cancelled")

  // MARK: Fetches

  /// Only the cache was allowed, and it has no usable entry.
  public static let notCached = Self(rawValue: "notCached")
  /// The request makes no sense.
  public static let invalidRequest = Self(rawValue: "invalidRequest")
  /// The origin does not have the requested resource.
  public static let notFound = Self(rawValue: "notFound")
  /// The origin cannot be reached.
  public static let originUnreachable = Self(rawValue: "originUnreachable")
  /// The origin refused the credentials.
  public static let originRefused = Self(rawValue: "originRefused")
  /// The origin's response cannot be understood.
  public static let invalidAnswer = Self(rawValue: "invalidAnswer")
  /// The server did not have to prove its identity. Only ever a warning.
  public static let insecure = Self(rawValue: "insecure")

  // MARK: Set-up and libraries

  /// An option of the engine, or another setting, is missing, unknown, of the wrong type or out of range.
  public static let invalidOption = Self(rawValue: "invalidOption")
  /// The configured origin cannot be reached, because a setting is missing or unusable.
  public static let originUnavailable = Self(rawValue: "originUnavailable")
  /// No engine has that name.
  public static let unknownBackend = Self(rawValue: "unknownBackend")
  /// A library is not a plugin, has another version of the interface, or declares an invalid engine.
  public static let invalidPlugin = Self(rawValue: "invalidPlugin")

  // MARK: Files and input

  /// A file or another input is not written in its format.
  public static let malformed = Self(rawValue: "malformed")
}
