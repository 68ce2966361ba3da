public import ResponseCache

#if canImport(FoundationNetworking)
  internal import Foundation
  public import FoundationNetworking
#else
  public import Foundation
#endif

/// A cache under the data tasks of a `URLSession`, by the rules of HTTP (RFC 9111).
///
///     let cache = try await Cache(location)
///     let session = URLSession(configuration: .default.cached(by: cache))
///
/// Nothing else in the program changes. GET and HEAD data tasks are served from the cache where HTTP allows it.
/// Uploads, downloads and other methods go to the server as before, and what they change there is removed from the
/// cache. `URLRequest.cachePolicy` is obeyed, errors are `URLError`s, and cookies, credentials, timeouts and proxies
/// are the session's. The `Cache-Status` field (RFC 9211) of a response says where it came from. A response whose server
/// does not say how long it can be used is fresh for a tenth of the time since its last change, up to a day; stale
/// responses are used only if the server allows it.
///
/// Any number of sessions can share a cache, with each other and with the rest of the program. Once it is closed, they
/// work without it, with a warning for each response.
///
/// Differences from a session without the cache:
/// - A delegate is not asked about redirects: they are followed, each cached by its own rules, but not from https to
///   http. It gets the content of a response in one piece, once all of it has arrived. Metrics and progress describe
///   the delivery.
/// - A response that is larger than `maxEntryBytes` is fetched a second time without the cache, as soon as its size is
///   known, and so is streamed as usual.
/// - A response that requires an authentication challenge to be answered bypasses the cache, and is not kept.
///   Credentials in the `Authorization` field or in the URL cause no challenge.
/// - A response to a request with cookies is used only for requests with the same cookies. If the requests need none,
///   set `httpShouldSetCookies` to `false`.
/// - `URLSession` undoes content codings (gzip and so on). The cache keeps the content without a coding, with a weak
///   entity tag.
/// - If another process asks for the same thing at the same time and fails, the error is `cannotConnectToHost`, whatever
///   the other process met.
/// - `Vary: User-Agent` does not distinguish programs that share a store, unless they set that field.
///
/// Defects of `URLSession` on Linux remain: the process ends if a server sends fields after chunked content (trailers)
/// or cuts a header short, some valid responses are errors, a 401 that asks for Basic authentication never reaches a
/// completion handler, repeated fields are joined, and header order and reason phrases are lost.
extension URLSessionConfiguration {
  /// Returns a copy of this configuration with `cache` instead of its `urlCache`, for a session whose responses are
  /// cached.
  ///
  /// Call it last: later changes to the result do not affect the cache's own transfers.
  ///
  /// - Parameter maxEntryBytes: the largest response to keep. Each task can hold this much in memory.
  public func cached(by cache: Cache, maxEntryBytes: Int = 16 << 20) -> URLSessionConfiguration {
    let (outer, inner) = (duplicate, duplicate)
    let others = (protocolClasses ?? []).filter { $0 != CachingProtocol.self }
    inner.protocolClasses = others
    // The requests already have them, so that the rules can select responses by the cookies that are sent.
    inner.httpShouldSetCookies = false
    outer.protocolClasses = [CachingProtocol.self] + others
    outer.urlCache = SessionLink(cache, maxEntryBytes: maxEntryBytes, session: self, transfers: inner)
    return outer
  }

  private var duplicate: URLSessionConfiguration { copy() as? URLSessionConfiguration ?? self }
}
