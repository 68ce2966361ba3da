public import CacheDomain

/// An HTTP cache: answers any request for a URL from a storage or from the server, by the rules of HTTP caching.
///
/// Its answers carry `Age` where they come from the storage, and `Cache-Status` (RFC 9211) always.
public struct HTTPCache: Sendable {
  private let storage: any HTTPResponseStorage
  private let transfer: any DataTransferService
  private let services: FetchServices
  private let maxContentBytes: Int

  /// The cache over `storage` in front of the servers that `transfer` reaches. A response without a lifetime is fresh
  /// for a tenth of the time since its last change (`HTTPCacheRules.Heuristic.lastModified`), whatever `services` say.
  ///
  /// - Parameter maxContentBytes: how large content may get that is put together of parts. What comes in one piece
  ///   `transfer` limits.
  public init(
    storage: any HTTPResponseStorage, transfer: any DataTransferService, services: FetchServices,
    maxContentBytes: Int = .max
  ) {
    self.storage = storage
    self.transfer = transfer
    self.maxContentBytes = maxContentBytes
    var services = services
    services.rules = services.rules.with(.lastModified)
    self.services = services
  }

  /// The responses to `request`, fetched as `options` say. Whatever status the server answers with is a response.
  public func responses(to request: HTTPRequest, options: FetchOptions) -> Snapshots<HTTPResponse> {
    CachedFetch(subject: subject(request), services: services).snapshots(options)
  }

  private func subject(_ request: HTTPRequest) -> URLSubject {
    URLSubject(
      request: request, storage: storage, transfer: transfer, rules: services.rules, now: services.now,
      maxContentBytes: maxContentBytes)
  }

  /// The same where a redirection is followed in place of being answered, `maxRedirects` times in a row at most. More are
  /// an error with the cause `TooManyRedirects`, but with 0 a redirection is the answer.
  ///
  /// - Parameter completing: makes of a request that follows a redirection what is sent, such as one with the cookies for
  ///   its URL. `request` itself is complete.
  public func followedResponses(
    to request: HTTPRequest, options: FetchOptions, maxRedirects: Int,
    completing: @escaping @Sendable (HTTPRequest) -> HTTPRequest = { $0 }
  ) -> Snapshots<LocatedResponse> {
    followedResponses(to: request, options: options, maxRedirects: maxRedirects, completing, followed: 0)
  }

  /// Removes what `head`, the answer to `request`, makes invalid: for a request that was sent past the cache.
  ///
  /// - Throws: `CacheError`: the storage failed.
  public func invalidate(by head: HTTPResponseHead, to request: HTTPRequest) async throws(CacheError) {
    try await subject(request).invalidate(by: head)
  }

  private func followedResponses(
    to request: HTTPRequest, options: FetchOptions, maxRedirects: Int,
    _ complete: @escaping @Sendable (HTTPRequest) -> HTTPRequest, followed: Int
  ) -> Snapshots<LocatedResponse> {
    let responses = responses(to: request, options: options).mapValues {
      LocatedResponse(url: request.url, response: $0)
    }
    return responses.following { snapshot throws(CacheError) in
      guard maxRedirects > 0, let redirect = Redirect(snapshot.value.response.head, to: request) else { return nil }
      guard followed < maxRedirects else {
        throw CacheError(
          .invalidAnswer, "there are more than \(maxRedirects) redirects in a row", cause: TooManyRedirects())
      }
      let next = complete(redirect.request(without: Self.ownFields))
      return followedResponses(
        to: next, options: options, maxRedirects: maxRedirects, complete, followed: followed + 1)
    }
  }

  /// Fields that are meant for one server alone.
  private static let ownFields: HTTPFields = ["Authorization": "", "Cookie": "", "Proxy-Authorization": "", "Host": ""]
}

/// A response, and the URL that gave it.
public struct LocatedResponse: Sendable, Hashable {
  /// The URL, without credentials and without a fragment.
  public let url: String
  /// Its response.
  public let response: HTTPResponse
}

/// A request was redirected more often than the caller allows.
public struct TooManyRedirects: Error {}
