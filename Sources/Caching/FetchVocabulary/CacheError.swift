/// Why a fetch has no answer: the kind of failure, a message for people, and the underlying error.
public struct CacheError: Error, Sendable {
  /// A kind of failure. Failures of the store use the names of the store's own codes.
  public struct Code: RawRepresentable, Sendable, Hashable {
    /// The code's name, in camel case.
    public let rawValue: String

    /// Creates the code called `rawValue`.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Only the cache was allowed to answer, and it holds nothing.
    public static let notCached = Code(rawValue: "notCached")
    /// The origin does not have what was asked for.
    public static let notFound = Code(rawValue: "notFound")
    /// The origin cannot be reached.
    public static let originUnreachable = Code(rawValue: "originUnreachable")
    /// The origin refused the credentials.
    public static let originRefused = Code(rawValue: "originRefused")
    /// The origin's answer cannot be understood.
    public static let invalidAnswer = Code(rawValue: "invalidAnswer")
    /// The request makes no sense.
    public static let invalidRequest = Code(rawValue: "invalidRequest")
    /// A stored entry is no longer what was written.
    public static let damaged = Code(rawValue: "damaged")
    /// An entry has changed since it was read.
    public static let conflict = Code(rawValue: "conflict")
    /// The task was cancelled.
    public static let cancelled = Code(rawValue: "cancelled")
  }

  /// The kind of failure.
  public let code: Code
  /// What went wrong, in one line without a final full stop.
  public let message: String
  /// What to do about it, in one line; empty if there is no advice.
  public let hint: String
  /// The underlying error, if there is one.
  public let cause: (any Error)?

  /// Creates an error.
  public init(_ code: Code, _ message: String, hint: String = "", cause: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.hint = hint
    self.cause = cause
  }

  /// Whether the origin failed in a way that allows a stale value to answer in its place. A warning for which this is
  /// `false` comes from the storage.
  public var mayBeStoodInFor: Bool { [.originUnreachable, .invalidAnswer].contains(code) }

  /// The error for a proxy that wants credentials for `server` and got none (status 407).
  public static func refusedByProxy(_ server: String) -> CacheError {
    CacheError(
      .originUnreachable, "the proxy for \(server) wants credentials (status 407)",
      hint: "write them into its address, as in https_proxy=http://NAME:PASSWORD@proxy:3128")
  }

  /// The error for a fetch whose task was cancelled.
  public static var cancelled: CacheError { CacheError(.cancelled, "cancelled") }
}
