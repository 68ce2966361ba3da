/// A source of responses to requests for URLs: an `HTTPCache`, or something that changes its responses.
public protocol HTTPResponseSource: Sendable {
  /// Fetches the responses to `request` as `options` say, and follows at most `maxRedirects` redirects in a row. More
  /// are an error with the cause `TooManyRedirects`; with 0, a redirect is returned as the response.
  func followedResponses(
    to request: HTTP.Request, options: FetchOptions, maxRedirects: Int
  ) -> Snapshots<LocatedResponse>
}

/// An HTTP cache: responds to requests for URLs from a store or from the server, by the rules of HTTP caching.
///
/// Every response carries `Cache-Status` (RFC 9211), and `Age` if it comes from the store or was requested by another
/// caller.
public struct HTTPCache: HTTPResponseSource {
  let stored: URLResponses
  let transfer: any DataTransferService
  let services: FetchServices
  /// The name in `Cache-Status`.
  let name: String
  /// The largest content that is kept of what arrives while it is read, and put together from parts, in bytes.
  let maxContentBytes: Int

  /// Creates a cache that keeps its responses in `responses`, in front of the servers that `transfer` reaches. A response without a lifetime is
  /// fresh for a tenth of the time since its last change (`HTTPCacheRules.Heuristic.lastModified`), whatever `services`
  /// say.
  ///
  /// - Parameters:
  ///   - name: the cache's name in `Cache-Status`: a letter, then letters, digits and `-._`.
  ///   - maxContentBytes: the largest content that the cache keeps of what arrives while it is read, and puts together
  ///     from parts, in bytes. `transfer` limits content that arrives in one piece.
  public init(
    responses: URLResponses, transfer: any DataTransferService, services: FetchServices,
    name: String = "ResponseCache", maxContentBytes: Int = 16 << 20
  ) {
    self.name = name
    stored = responses
    self.transfer = transfer
    self.maxContentBytes = maxContentBytes
    var services = services
    services.rules.heuristic = .lastModified
    self.services = services
  }

  /// Fetches the responses to `request` as `options` say. Any status is a response, not an error.
  public func responses(to request: HTTP.Request, options: FetchOptions) -> Snapshots<HTTP.Response> {
    snapshots(request.normalized, options)
  }

  private func snapshots(_ request: HTTP.Request, _ options: FetchOptions) -> Snapshots<HTTP.Response> {
    FetchOperation.snapshots(of: URLTarget(request: request, cache: self), services, options)
  }

  /// Like `responses(to:options:)`, but follows redirects, as `HTTPResponseSource` says.
  public func followedResponses(
    to request: HTTP.Request, options: FetchOptions, maxRedirects: Int
  ) -> Snapshots<LocatedResponse> {
    followedResponses(to: request, options: options, maxRedirects: maxRedirects, completing: { $0 })
  }

  /// Like `followedResponses(to:options:maxRedirects:)`, with requests that are completed on the way.
  ///
  /// - Parameter completing: turns a request that follows a redirect into the request to send, for example by adding
  ///   cookies for its URL. It is not called for `request` itself, which is complete.
  public func followedResponses(
    to request: HTTP.Request, options: FetchOptions, maxRedirects: Int,
    completing: @escaping @Sendable (HTTP.Request) -> HTTP.Request
  ) -> Snapshots<LocatedResponse> {
    followedResponses(to: request.normalized, options: options, maxRedirects: maxRedirects, completing, followed: 0)
  }

  /// Removes the entries that `head`, the response to `request`, invalidates. For a request that bypassed the cache.
  ///
  /// - Throws: `CacheError`: the storage failed.
  public func invalidate(by head: HTTP.ResponseHead, to request: HTTP.Request) async throws(CacheError) {
    try await URLTarget(request: request.normalized, cache: self).invalidate(by: head)
  }

  private func followedResponses(
    to request: HTTP.Request, options: FetchOptions, maxRedirects: Int,
    _ complete: @escaping @Sendable (HTTP.Request) -> HTTP.Request, followed: Int
  ) -> Snapshots<LocatedResponse> {
    let responses = snapshots(request, options).mapValues {
      LocatedResponse(url: request.url, response: $0)
    }
    return responses.following { snapshot throws(CacheError) in
      guard maxRedirects > 0, let next = try request.redirected(by: snapshot.value.response.head) else { return nil }
      guard followed < maxRedirects else {
        throw CacheError(
          .invalidAnswer, "there are more than \(maxRedirects) redirects in a row", cause: TooManyRedirects())
      }
      // With a limited number of transfers, the next one would wait for this one.
      snapshot.value.response.rest?.release()
      return followedResponses(
        to: complete(next), options: options, maxRedirects: maxRedirects, complete, followed: followed + 1)
    }
  }
}

/// A request was redirected more often than the caller allows.
public struct TooManyRedirects: Error {}

extension HTTP.Request {
  /// The request that follows the redirect in `head`, the response to this one, if that is safe without asking (RFC
  /// 9110, section 15.4): to a GET or HEAD, and not from https to http. `nil` if it is not a redirect, or must not be
  /// followed.
  ///
  /// Another origin gets neither a field with a secret, nor the field Host, nor the client's identity, unless it is the same
  /// host over https: that one gets the identity.
  ///
  /// - Throws: `CacheError` with the code `invalidAnswer` if it leads to more than one place.
  package func redirected(by head: HTTP.ResponseHead) throws(CacheError) -> HTTP.Request? {
    let locations = head.fields.values(of: "location")
    guard var next = repeated(after: head.status), let location = locations.first else { return nil }
    guard locations.count == 1 else {
      throw .invalidAnswer(
        next.authority ?? "the server", "a redirect with more than one Location", hint: "try again later")
    }
    guard !location.isEmpty,
      let url = URLReference.resolve(location, against: next.target, keepingDots: next.keepsDotSegments)
    else { return nil }
    let schemes = next.isSecure ? ["https://"] : ["https://", "http://"]
    guard schemes.contains(where: url.lowercased().hasPrefix) else { return nil }
    let original = next
    next.url = original.address(of: url)
    guard !URLReference.isSameOrigin(url, original.target) else { return next }
    next.url = url
    next.fields = HTTP.Fields(
      next.fields.lines.filter { !original.isSecret($0.name) && !HTTP.Fields.isSame($0.name, "host") })
    if !URLReference.isUpgrade(from: original.target, to: url) { next.clientIdentity = nil }
    return next
  }

  /// The request to repeat at another address after a redirect: one that only reads, or the GET that replaces a POST.
  private func repeated(after status: Int) -> HTTP.Request? {
    guard HTTP.ResponseHead.redirectStatuses.contains(status) else { return nil }
    // A stream can be sent only once.
    if Self.retrieves(method), stream == nil { return self }
    // 307 and 308 ask for the same method again.
    guard method == "POST", status <= 303 else { return nil }
    var repeated = self
    repeated.method = "GET"
    repeated.fields = HTTP.Fields(fields.lines.filter { !$0.name.lowercased().hasPrefix("content-") })
    repeated.body = []
    repeated.stream = nil
    return repeated
  }
}
