internal import CacheData
internal import CacheDomain

/// Warns of each answer from a server whose identity was not proved.
struct UnprovedTransfer: DataTransferService {
  let base: any DataTransferService
  let warn: @Sendable (CacheError) -> Void

  func transfer(_ request: HTTPRequest) async throws(CacheError) -> HTTPResponse {
    let response = try await base.transfer(request)
    if request.isSecure {
      warn(
        CacheError(
          .insecure,
          "the server did not have to prove who it is, so its answer is not stored",
          hint: "name the certificates to trust with --cacert FILE"))
    }
    return response
  }
}
