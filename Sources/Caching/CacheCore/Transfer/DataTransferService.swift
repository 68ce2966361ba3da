public import FetchVocabulary

/// Sends requests to servers and returns their responses. It follows no redirects and stores nothing.
public protocol DataTransferService: Sendable {
  /// The response to `request`, whatever its status: complete, or with a `rest` that arrives while it is read. Cancelling
  /// the task ends the transfer, and so does releasing the rest.
  ///
  /// - Throws: `CacheError`: `originUnreachable` if no connection could be made or it broke off, `invalidAnswer` if the
  ///   response is not HTTP, incomplete or too large, `invalidRequest`, `cancelled`. The rest throws the same.
  func transfer(_ request: HTTPRequest) async throws(CacheError) -> HTTPResponse
}
