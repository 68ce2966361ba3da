public import FetchVocabulary

/// Sends requests to servers and returns their answers. It follows no redirects and stores nothing.
public protocol DataTransferService: Sendable {
  /// The whole answer to `request`, whatever its status. Cancelling the task ends the transfer.
  ///
  /// - Throws: `CacheError`: `originUnreachable` if no connection could be made or it broke off, `invalidAnswer` if the
  ///   answer is not HTTP, incomplete or too large, `invalidRequest`, `cancelled`.
  func transfer(_ request: HTTPRequest) async throws(CacheError) -> HTTPResponse
}
