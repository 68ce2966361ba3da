internal import Base
internal import HTTPMessages

/// The server that a request goes to.
struct ServerAddress: Sendable, Hashable {
  let isSecure: Bool
  /// The host, and the port if the URL gives one.
  let authority: String
  /// The host, with an IPv6 address in brackets.
  let host: String
  let port: Int
  let hasCredentials: Bool

  /// Reads the server of an http or https request; `nil` for any other.
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
