/// Why there is no answer: what kind of failure, what to tell people, and what lies behind it.
public struct CacheError: Error, Sendable {
  /// A kind of failure. A failing store has the name of its own code here.
  public struct Code: RawRepresentable, Sendable, Hashable {
    /// The code's name, in camel case.
    public let rawValue: String

    /// The code called `rawValue`.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The cache alone was to answer, and holds nothing.
    public static let notCached = Code(rawValue: "notCached")
    /// The origin has no such thing.
    public static let notFound = Code(rawValue: "notFound")
    /// The origin cannot be reached.
    public static let originUnreachable = Code(rawValue: "originUnreachable")
    /// The origin refused the credentials.
    public static let originRefused = Code(rawValue: "originRefused")
    /// What the origin answered cannot be understood.
    public static let invalidAnswer = Code(rawValue: "invalidAnswer")
    /// What was asked for makes no sense.
    public static let invalidRequest = Code(rawValue: "invalidRequest")
    /// An entry of the store is not what was written.
    public static let damaged = Code(rawValue: "damaged")
    /// An entry has changed since it was read.
    public static let conflict = Code(rawValue: "conflict")
    /// The task was cancelled.
    public static let cancelled = Code(rawValue: "cancelled")
  }

  /// What kind of failure this is.
  public let code: Code
  /// What went wrong, in one line without a final full stop.
  public let message: String
  /// What to do about it, in one line; empty where there is nothing to advise.
  public let hint: String
  /// The error that led to this one, where there was one.
  public let cause: (any Error)?

  /// An error with the given parts.
  public init(_ code: Code, _ message: String, hint: String = "", cause: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.hint = hint
    self.cause = cause
  }

  /// Whether the origin failed in a way for which a stale value may stand in. A warning that is none of these is of the
  /// storage.
  public var mayBeStoodInFor: Bool { [.originUnreachable, .invalidAnswer].contains(code) }

  /// The error that the proxy for `server` was not given the credentials that it wants (status 407).
  public static func refusedByProxy(_ server: String) -> CacheError {
    CacheError(
      .originUnreachable, "the proxy for \(server) wants credentials (status 407)",
      hint: "write them into its address, as in https_proxy=http://NAME:PASSWORD@proxy:3128")
  }

  /// The error of a fetch whose task was cancelled.
  public static var cancelled: CacheError { CacheError(.cancelled, "cancelled") }
}
