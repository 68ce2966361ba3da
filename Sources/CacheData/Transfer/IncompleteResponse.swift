/// What came of a response before its transfer failed: the `cause` of the transfer's `CacheError`.
///
/// A transfer reports it where the length of the content is known, so that a cache can ask for the rest later.
public struct IncompleteResponse: Error {
  /// The head as it came, and the beginning of the content.
  public let response: HTTPResponse
  /// What made the transfer fail; `nil` where the `CacheError` says it all.
  public let cause: (any Error)?

  /// The part that came, and what kept the rest from coming.
  public init(_ response: HTTPResponse, cause: (any Error)? = nil) {
    self.response = response
    self.cause = cause
  }
}
