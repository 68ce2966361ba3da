internal import HTTPMessages

/// The server that a request is for.
struct ServerAddress: Sendable, Hashable {
  let isSecure: Bool
  /// The host and, where it is given, the port.
  let authority: String
  let hasCredentials: Bool

  /// The server of a request over http or https; `nil` for any other.
  init?(_ request: HTTPRequest) {
    let scheme = request.url.prefix { $0 != ":" }.lowercased()
    guard scheme == "http" || scheme == "https", let authority = request.authority else { return nil }
    isSecure = scheme == "https"
    self.authority = authority
    hasCredentials = !request.url.dropFirst(scheme.utf8.count + 3).hasPrefix(authority)
  }

  /// The host, in brackets where it is an address of IPv6.
  var host: String { String(authority.prefix(upTo: portStart)) }

  /// The port.
  var port: Int { Int(authority[portStart...].dropFirst()) ?? (isSecure ? 443 : 80) }

  private var portStart: String.Index {
    let end = authority.lastIndex(of: "]") ?? authority.startIndex
    return authority[end...].firstIndex(of: ":") ?? authority.endIndex
  }
}
