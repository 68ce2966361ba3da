internal import Foundation
public import FoundationNetworking

extension URLSessionConfiguration {
  /// Returns a copy of this configuration with `cache` instead of its `urlCache`, for a session whose responses are
  /// cached.
  ///
  /// Call it last: later changes to the result do not affect the cache's own transfers.
  public func cached(by cache: SessionCache) -> URLSessionConfiguration {
    let (outer, inner) = (duplicate, duplicate)
    let others = (protocolClasses ?? []).filter { $0 != CachingProtocol.self }
    inner.protocolClasses = others
    inner.urlCache = nil
    // The requests already have them, so that the rules can select responses by the cookies that are sent.
    inner.httpShouldSetCookies = false
    outer.protocolClasses = [CachingProtocol.self] + others
    outer.urlCache = SessionLink(
      cache, transfers: inner, cookies: SessionCookies(outer), policy: requestCachePolicy)
    return outer
  }

  private var duplicate: URLSessionConfiguration { copy() as? URLSessionConfiguration ?? self }
}
