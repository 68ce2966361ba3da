public import CacheCore
public import FetchVocabulary
public import HTTPCaching

/// Responses to HTTP requests, kept and used again by the rules of HTTP caching (RFC 9111).
///
///     import CurlTransport
///
///     let transport = HTTPTransferService()
///     let response = try await cache.response(to: HTTP.Request(url: "https://www.swift.org/"), over: transport)
///
/// The servers decide how long their responses are used; a response without a lifetime is fresh for a tenth of the time
/// since its last change. A response to a request with secrets (`Authorization`, `Cookie`, `Proxy-Authorization` and
/// `HTTP.Request.secretFields`) is used only for requests with the same. Every status is a response, not an error.
/// `Cache-Status` (RFC 9211) says where a response came from.
extension Cache {
  /// The response to `request`, from the cache or over `transport`.
  ///
  /// Failures that did not prevent the response go to the cache's `warn`.
  ///
  /// - Parameters:
  ///   - policy: whether the cache or the server serves the response. With `cachedThenNetwork` the cached response is
  ///     the result if there is one, and the server is not asked.
  ///   - maxAge: an entry older than this counts as stale; `nil` for no limit.
  ///   - maxStale: an entry that has been stale for no longer than this is served too; `nil` to serve none.
  ///   - maxRedirects: how many redirects in a row to follow; 0 returns a redirect as the response.
  /// - Throws: `CacheError`: `originUnreachable`, `invalidAnswer`, `invalidRequest`, `notCached` if the policy allows
  ///   only the cache and it has no response; `CancellationError`.
  @concurrent
  public func response(
    to request: HTTP.Request, over transport: some DataTransferService, policy: FetchPolicy = .cacheFirst,
    maxAge: Duration? = nil, maxStale: Duration? = nil, maxRedirects: Int = 5
  ) async throws -> HTTP.Response {
    let responses = responses(
      to: request, over: transport, policy: policy, maxAge: maxAge, maxStale: maxStale, maxRedirects: maxRedirects)
    return try await responses.first(warn: warn).response
  }

  /// The responses to `request` in the order in which they become known, with the URL that each came from: usually one;
  /// with `cachedThenNetwork` the cached one, and then the server's. Otherwise like
  /// `response(to:over:policy:maxAge:maxStale:maxRedirects:)`.
  public func responses(
    to request: HTTP.Request, over transport: some DataTransferService, policy: FetchPolicy = .cacheFirst,
    maxAge: Duration? = nil, maxStale: Duration? = nil, maxRedirects: Int = 5
  ) -> SnapshotSequence<LocatedResponse> {
    let cache = HTTPCache(
      responses: URLResponses(store: store), transfer: transport, services: services)
    let options = FetchOptions(policy: policy, maxAge: maxAge, maxStale: maxStale)
    return SnapshotSequence(
      cache.followedResponses(to: request, options: options, maxRedirects: maxRedirects),
      observer(of: URLResponses.namespace))
  }

  /// Removes the responses to all requests for `url`, whatever their other fields select. Returns how many there were.
  ///
  /// - Throws: `CacheError`: `invalidRequest` if `url` is not the URL of a web server, or the engine's failure.
  @concurrent
  @discardableResult
  public func removeResponses(to url: String) async throws(CacheError) -> Int {
    try await change(.remove, prefix: URLResponses.keyPrefix(of: HTTP.Request.normalizedURL(url)))
  }
}
