internal import CacheData
internal import CacheDomain
internal import Foundation
internal import FoundationNetworking

/// The cookies that a session sends.
struct SessionCookies: Sendable {
  /// `nil` where the session sets no cookies.
  private let storage: HTTPCookieStorage?

  init(_ configuration: URLSessionConfiguration) {
    storage = configuration.httpShouldSetCookies ? configuration.httpCookieStorage : nil
  }

  /// The field `Cookie` with which `request` is sent to `url`: the cookies in the storage, or else the request's own.
  func field(for url: URL?, of request: HTTPRequest) -> String? {
    let stored = url.flatMap { storage?.cookies(for: $0) } ?? []
    return stored.isEmpty ? request.fields["cookie"] : HTTPCookie.requestHeaderFields(with: stored)["Cookie"]
  }
}

extension HTTPResponseHead {
  /// Whether the field `Cookie` of a request selects this response.
  var variesByCookie: Bool { names("cookie", in: "vary") }

  /// Whether no cache may keep this response.
  var forbidsStoring: Bool { names("no-store", in: "cache-control") }

  private func names(_ name: String, in field: String) -> Bool {
    FieldList.members(fields[field] ?? "").contains { $0.lowercased() == name }
  }
}
