internal import Foundation
public import FoundationNetworking

extension URLSessionConfiguration {
  /// The same configuration with `cache` in place of its `urlCache`, for a session whose responses are kept and reused.
  ///
  /// Call it last: what is changed in the result afterwards does not reach the transfers of the cache.
  public func cached(by cache: SessionCache) -> URLSessionConfiguration {
    let (outer, inner) = (duplicate, duplicate)
    let others = (protocolClasses ?? []).filter { $0 != CachingProtocol.self }
    inner.protocolClasses = others
    inner.urlCache = nil
    // They are in the requests already, so that the rules select by the cookies that are sent.
    inner.httpShouldSetCookies = false
    outer.protocolClasses = [CachingProtocol.self] + others
    outer.urlCache = SessionLink(
      cache, transfers: inner, cookies: SessionCookies(outer), policy: requestCachePolicy)
    return outer
  }

  private var duplicate: URLSessionConfiguration { copy() as? URLSessionConfiguration ?? self }
}
