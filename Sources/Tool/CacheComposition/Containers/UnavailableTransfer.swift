internal import CacheData
internal import CacheDomain

/// Stands in for a transfer that cannot be made: every request fails for the same reason, without leaving the process.
struct UnavailableTransfer: DataTransferService {
  let reason: CacheError

  func transfer(_ request: HTTPRequest) async throws(CacheError) -> HTTPResponse { throw reason }
}
