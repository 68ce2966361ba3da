internal import CacheData
internal import Foundation
internal import FoundationNetworking

/// The cookies that a session sends.
struct SessionCookies: Sendable {
  /// `nil` where the session sets no cookies.
  private let storage: HTTPCookieStorage?

  init(_ configuration: URLSessionConfiguration) {
    storage = configuration.httpShouldSetCookies ? configuration.httpCookieStorage : nil
  }

  /// `request` with the cookies in the storage for its URL, where there are some, in place of its own.
  func completed(_ request: HTTPRequest) -> HTTPRequest {
    let stored = URL(string: request.url).flatMap { storage?.cookies(for: $0) } ?? []
    guard !stored.isEmpty else { return request }
    var request = request
    request.fields["Cookie"] = HTTPCookie.requestHeaderFields(with: stored)["Cookie"]
    return request
  }
}
