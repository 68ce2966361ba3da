public import CacheDomain

/// An HTTP cache: answers any request for a URL from a storage or from the server, by the rules of HTTP caching.
///
/// Its answers carry `Age` where they come from the storage, and `Cache-Status` (RFC 9211) always.
public struct HTTPCache: Sendable {
  private let storage: any HTTPResponseStorage
  private let transfer: any DataTransferService
  private let services: FetchServices

  /// The cache over `storage` in front of the servers that `transfer` reaches.
  public init(storage: any HTTPResponseStorage, transfer: any DataTransferService, services: FetchServices) {
    self.storage = storage
    self.transfer = transfer
    self.services = services
  }

  /// The responses to `request`, fetched as `options` say. Whatever status the server answers with is a response.
  public func responses(to request: HTTPRequest, options: FetchOptions) -> Snapshots<HTTPResponse> {
    let subject = URLSubject(request: request, storage: storage, transfer: transfer, rules: services.rules)
    return CachedFetch(subject: subject, services: services).snapshots(options)
  }
}
