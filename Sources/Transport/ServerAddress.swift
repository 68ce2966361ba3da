internal import Base
internal import HTTPMessages

/// The server that a request is for.
struct ServerAddress: Sendable, Hashable {
  let isSecure: Bool
  /// The host and, where it is given, the port.
  let authority: String
  /// The host, in brackets where it is an address of IPv6.
  let host: String
  let port: Int
  let hasCredentials: Bool

  /// The server of a request over http or https; `nil` for any other.
  init?(_ request: HTTPRequest) {
    guard let url = URLParts(request.url), let scheme = url.scheme, ["https", "http"].contains(scheme),
      let host = url.host, let authority = url.authority
    else { return nil }
    isSecure = scheme == "https"
    self.authority = authority
    self.host = String(host)
    port = url.port ?? (isSecure ? 443 : 80)
    hasCredentials = url.userInfo != nil
  }
}
