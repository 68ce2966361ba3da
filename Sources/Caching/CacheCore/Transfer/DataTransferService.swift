public import FetchVocabulary

/// Sends requests to servers and returns their answers. It follows no redirects and stores nothing.
public protocol DataTransferService: Sendable {
  /// The whole answer to `request`, whatever its status. Cancelling the task ends the transfer.
  ///
  /// - Throws: `CacheError`: `originUnreachable` if no connection could be made or it broke off, `invalidAnswer` if the
  ///   answer is not HTTP, incomplete or too large, `invalidRequest`, `cancelled`.
  func transfer(_ request: HTTPRequest) async throws(CacheError) -> HTTPResponse
}

/// The part of a response that arrived before its transfer failed: the `cause` of the transfer's `CacheError`.
///
/// A transfer reports it if the content's length is known, so that a cache can ask for the rest later; and for an unsafe
/// request in any case, because a cache must act on its status.
public struct IncompleteResponse: Error {
  /// The head, and the beginning of the content.
  public let response: HTTPResponse
  /// Why the transfer failed; `nil` if the `CacheError` says it all.
  public let cause: (any Error)?

  /// Creates the part that arrived, and the error that kept the rest from arriving.
  public init(_ response: HTTPResponse, cause: (any Error)? = nil) {
    self.response = response
    self.cause = cause
  }
}

extension CacheError {
  /// The same error if `request` is safe; otherwise it has an `IncompleteResponse` with `head` as its cause, which says
  /// that the request has succeeded or failed at its origin.
  package func after(_ head: HTTPResponseHead, of request: HTTPRequest) -> CacheError {
    if request.isSafe || cause is IncompleteResponse { return self }
    return CacheError(code, message, hint: hint, cause: IncompleteResponse(HTTPResponse(head), cause: cause))
  }
}
