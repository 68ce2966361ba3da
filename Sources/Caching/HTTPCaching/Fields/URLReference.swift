internal import Base
public import FetchVocabulary
public import HTTPMessages

/// A URL reference (RFC 3986, section 4.1) in its normal form (section 6.2.2), without the fragment: scheme and host in
/// lower case, and characters that a part must not contain percent-encoded.
package struct URLReference: Sendable, Hashable {
  /// `nil` in a relative reference.
  private(set) var scheme: String?
  /// The credentials before an `@`, as written; `nil` if there are none.
  package let userInfo: Substring?
  /// The host, with an IPv6 address in brackets; `nil` if the reference names no server.
  let host: String?
  private let explicitPort: Int?
  private(set) var path: String
  /// The text after the question mark; `nil` if there is none.
  package private(set) var query: String?

  /// Parses `text`; `nil` if it is not a URL reference.
  package init?(_ text: String) {
    guard let parts = URLParts(text) else { return nil }
    scheme = parts.scheme
    userInfo = parts.userInfo
    host = parts.host.map { host in
      let isAddress = host.utf8.first == UInt8(ascii: "[")
      return isAddress ? host.lowercased() : PercentEncoding.completed(host, isQuery: false).lowercased()
    }
    explicitPort = parts.port
    path = PercentEncoding.completed(parts.path, isQuery: false)
    query = parts.query.map { PercentEncoding.completed($0, isQuery: true) }
  }

  /// The port; `nil` if there is none, or it is the scheme's default.
  var port: Int? { explicitPort == (scheme == "https" ? 443 : 80) ? nil : explicitPort }

  /// Scheme, host and port; `nil` if the URL names no server.
  package var server: String? {
    guard let scheme, let host, !host.isEmpty else { return nil }
    return "\(scheme)://\(host)\(port.map { ":\($0)" } ?? "")"
  }

  /// The URL up to its query; `nil` if it names no server.
  package var withoutQuery: String? { server.map { $0 + (path.isEmpty ? "/" : path) } }

  /// The URL that this reference means in a message from `base` (RFC 3986, section 5.2.2).
  private func resolved(against base: URLReference) -> URLReference {
    var url = base
    if scheme != nil || host != nil {
      url = self
      url.scheme = scheme ?? base.scheme
      if path.hasPrefix("/") { url.path = Self.withoutDots(path) }
    } else if path.isEmpty {
      url.query = query ?? base.query
    } else {
      url.query = query
      let folder = base.path.lastIndex(of: "/").map { base.path[...$0] } ?? "/"
      url.path = Self.withoutDots(path.hasPrefix("/") ? path : folder + path)
    }
    return url
  }

  /// `path`, which begins with a slash, without its "." and ".." segments (section 5.2.4).
  private static func withoutDots(_ path: String) -> String {
    let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    var kept: [Substring] = []
    for segment in segments where segment != "." {
      if segment == ".." { _ = kept.popLast() } else { kept.append(segment) }
    }
    if let last = segments.last, last == "." || last == ".." { kept.append("") }
    return "/" + kept.joined(separator: "/")
  }
}

extension URLReference {
  /// The absolute URL that `reference` means in a message from `base`, without fragment or credentials; `nil` if it is
  /// not a URL. Scheme and host are in lower case, and a default port is left out.
  package static func resolve(_ reference: String, against base: String) -> String? {
    guard let original = URLReference(base), let url = URLReference(reference.isEmpty ? base : reference) else {
      return nil
    }
    let resolved = url.resolved(against: original)
    return resolved.withoutQuery.map { $0 + (resolved.query.map { "?\($0)" } ?? "") }
  }

  /// Whether `new` is an https URL on the host of the http URL `old`.
  package static func isUpgrade(from old: String, to new: String) -> Bool {
    guard let old = URLReference(old), let new = URLReference(new) else { return false }
    return old.scheme == "http" && new.scheme == "https" && old.host == new.host
  }

  /// Whether two absolute URLs have the same scheme, host and port.
  package static func isSameOrigin(_ left: String, _ right: String) -> Bool {
    guard let left = URLReference(left)?.server, let right = URLReference(right)?.server else { return false }
    return left == right
  }

  /// The host of an absolute URL, with its port if that is not the default; `nil` if there is no host.
  package static func host(of url: String) -> String? {
    guard let url = URLReference(url), let host = url.host else { return nil }
    return url.port.map { "\(host):\($0)" } ?? host
  }
}

extension HTTPRequest {
  /// The normalised form of the URL `text`, as requests and keys use it, without credentials or fragment.
  ///
  /// - Throws: `CacheError` with the code `invalidRequest` if `text` is not the URL of a web server.
  public static func normalizedURL(_ text: String) throws(CacheError) -> String {
    let url = URLReference.resolve(text, against: text)
    guard let url, ["http://", "https://"].contains(where: url.hasPrefix) else {
      // Do not repeat the text: it may contain a password.
      throw CacheError(
        .invalidRequest, "that is no URL of a web server", hint: "write it as https://example.com/path")
    }
    return url
  }
}
