internal import FoundationEssentials

/// References to URLs, as RFC 3986 resolves them.
enum URLReference {
  /// The absolute URL, without a fragment and without credentials, that `reference` means in a message about `base`;
  /// `nil` where it is none. Scheme and host are in lower case, and a port that goes without saying is left out.
  static func resolve(_ reference: String, against base: String) -> String? {
    let text = reference.isEmpty ? base : reference
    guard let url = URL(string: text, relativeTo: URL(string: base))?.absoluteURL,
      var components = URLComponents(url: url, resolvingAgainstBaseURL: true),
      let scheme = components.scheme?.lowercased(), let host = components.encodedHost?.lowercased(), !host.isEmpty
    else { return nil }
    (components.scheme, components.encodedHost) = (scheme, host)
    (components.user, components.password, components.fragment) = (nil, nil, nil)
    if components.port == defaultPort(scheme) { components.port = nil }
    if components.percentEncodedPath.isEmpty { components.percentEncodedPath = "/" }
    return components.string
  }

  /// Whether the scheme of an absolute URL is https.
  static func isSecure(_ url: String) -> Bool { url.lowercased().hasPrefix("https://") }

  /// Whether two absolute URLs have the same scheme, host and port.
  static func isSameOrigin(_ left: String, _ right: String) -> Bool {
    guard let left = origin(left), let right = origin(right) else { return false }
    return left == right
  }

  /// The host and, where it is given, the port of an absolute URL; `nil` where there is none.
  static func host(of url: String) -> String? {
    guard let url = URLComponents(string: url), let host = url.host else { return nil }
    return url.port.map { "\(host):\($0)" } ?? host
  }

  private static func origin(_ text: String) -> [String]? {
    guard let url = URLComponents(string: text), let scheme = url.scheme?.lowercased(), let host = url.host else {
      return nil
    }
    return [scheme, host.lowercased(), String(url.port ?? defaultPort(scheme))]
  }

  private static func defaultPort(_ scheme: String) -> Int { scheme == "https" ? 443 : 80 }
}
