internal import CachedFetching
internal import Foundation
internal import FoundationNetworking

/// The cookies that a session sends.
struct SessionCookies: Sendable {
  /// `nil` if the session sets no cookies.
  private let storage: HTTPCookieStorage?

  init(_ configuration: URLSessionConfiguration) {
    storage = configuration.httpShouldSetCookies ? configuration.httpCookieStorage : nil
  }

  /// `request` with its cookies replaced by the stored ones for its URL, if there are any.
  func completed(_ request: HTTPRequest) -> HTTPRequest {
    let stored = URL(string: request.url).flatMap { storage?.cookies(for: $0) } ?? []
    guard !stored.isEmpty else { return request }
    var request = request
    request.fields["Cookie"] = HTTPCookie.requestHeaderFields(with: stored)["Cookie"]
    return request
  }
}
