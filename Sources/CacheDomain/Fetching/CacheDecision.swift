/// How a request is answered, and why.
public struct CacheDecision: Sendable, Hashable {
  /// What is done.
  public enum Action: String, Sendable, Hashable {
    /// The stored response answers.
    case serve
    /// The stored response answers, and the origin is asked afterwards to bring it up to date.
    case serveThenRevalidate
    /// The origin is asked whether the stored response still holds.
    case revalidate
    /// The origin is asked for a response.
    case fetch
    /// There is no answer, because the origin may not be asked.
    case fail
  }

  /// Why the origin is asked, in the words of RFC 9211, section 2.2.
  public enum ForwardReason: String, Sendable, Hashable {
    /// The cache was told not to answer.
    case bypass
    /// The method is not one that is answered from a cache.
    case method
    /// Nothing is stored for the URL.
    case uriMiss = "uri-miss"
    /// Nothing that is stored for the URL was selected by the same header fields.
    case varyMiss = "vary-miss"
    /// The request forbids what is stored.
    case request
    /// What is stored is stale.
    case stale
    /// What is stored is not all that is asked for.
    case partial
  }

  /// What is done.
  public let action: Action
  /// Why, in one line.
  public let reason: String
  /// Why the origin is asked, or would have to be; `nil` where the cache answers.
  public let forwardReason: ForwardReason?

  /// A decision with the given parts.
  public init(_ action: Action, _ reason: String, forward: ForwardReason? = nil) {
    self.action = action
    self.reason = reason
    self.forwardReason = forward
  }
}
