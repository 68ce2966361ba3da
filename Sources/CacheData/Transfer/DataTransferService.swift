public import CacheDomain

/// Carries requests to servers and answers back. It follows no redirect and keeps nothing.
public protocol DataTransferService: Sendable {
  /// The whole answer to `request`, whatever its status. Cancelling the task ends the transfer.
  ///
  /// - Throws: `CacheError`: `originUnreachable` where no connection was made or it broke off, `invalidAnswer` where
  ///   the answer is no HTTP, incomplete or larger than is allowed, `invalidRequest`, `cancelled`.
  func transfer(_ request: HTTPRequest) async throws(CacheError) -> HTTPResponse
}
