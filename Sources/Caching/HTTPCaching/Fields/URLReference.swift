internal import CacheBase
public import FetchVocabulary

/// A URL reference (RFC 3986, section 4.1) as it is sent, without the fragment: scheme and host in their normal form,
/// and characters that a part must not contain percent-encoded. Codes stay as they are; `PercentEncoding`
/// has the form in which URLs are compared (`normalized`).
package struct URLReference: Sendable, Hashable {
  /// `nil` in a relative reference.
  package private(set) var scheme: String?
  /// The credentials before an `@`, as written; `nil` if there are none.
  package let userInfo: Substring?
  /// The host in its normal form (`ServerName`), with an IPv6 address in brackets; `nil` if the reference names no
  /// server.
  package let host: String?
  private let explicitPort: Int?
  package private(set) var path: String
  /// The text after the question mark; `nil` if there is none.
  package private(set) var query: String?

  /// Parses `text`; `nil` if it is not a URL reference.
  package init?(_ text: String) {
    guard let parts = URLParts(text) else { return nil }
    scheme = parts.scheme
    userInfo = parts.userInfo
    if let text = parts.host {
      guard let name = ServerName.normal(text) else { return nil }
      host = name
    } else {
      host = nil
    }
    explicitPort = parts.port
    path = PercentEncoding.completed(parts.path, isQuery: false)
    query = parts.query.map { PercentEncoding.completed($0, isQuery: true) }
  }

  /// Parses the value `value` of a header field, which can contain bytes that are not text.
  private init?(field value: String) {
    self.init(value.utf8.allSatisfy { $0 < 0x80 } ? value : PercentEncoding.ascii(FieldText.encode(value)))
  }

  /// The port; `nil` if there is none, or it is the scheme's default.
  package var port: Int? { explicitPort == (scheme == "https" ? 443 : 80) ? nil : explicitPort }

  /// Scheme, host and port; `nil` if the URL names no server.
  package var server: String? {
    guard let scheme, let host, !host.isEmpty else { return nil }
    return "\(scheme)://\(host)\(port.map { ":\($0)" } ?? "")"
  }

  /// The URL up to its query; `nil` if it names no server.
  package var withoutQuery: String? { server.map { $0 + (path.isEmpty ? "/" : path) } }

  /// The absolute URL without fragment and credentials, and without dot segments unless they are kept; `nil` if it
  /// names no server.
  package func absolute(keepingDots: Bool) -> String? {
    var url = self
    if !keepingDots { url.path = Self.withoutDots(path) }
    return url.withoutQuery.map { $0 + (query.map { "?\($0)" } ?? "") }
  }

  /// The URL that this reference means in a message from `base` (RFC 3986, section 5.2.2), with the dot segments of its
  /// own path.
  private func resolved(against base: URLReference) -> URLReference {
    var url = base
    if scheme != nil || host != nil {
      url = self
      url.scheme = scheme ?? base.scheme
    } else if path.isEmpty {
      url.query = query ?? base.query
    } else {
      url.query = query
      let folder = base.path.lastIndex(of: "/").map { base.path[...$0] } ?? "/"
      url.path = path.hasPrefix("/") ? path : Self.withoutDots(folder + path)
    }
    return url
  }

  /// `path` without its "." and ".." segments (section 5.2.4), also percent-encoded ones, if it begins with a slash.
  package static func withoutDots(_ path: String) -> String {
    guard path.hasPrefix("/") else { return path }
    let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    var kept: [Substring] = []
    for segment in segments {
      switch dots(segment) {
      case nil: kept.append(segment)
      case 2: _ = kept.popLast()
      default: break
      }
    }
    if let last = segments.last, dots(last) != nil { kept.append("") }
    return "/" + kept.joined(separator: "/")
  }

  /// 1 or 2 if `segment` is that many dots; `nil` for any other.
  private static func dots(_ segment: Substring) -> Int? {
    guard (1...6).contains(segment.utf8.count) else { return nil }
    let bytes = PercentEncoding.decoded(segment)
    return bytes.count <= 2 && bytes.allSatisfy { $0 == UInt8(ascii: ".") } ? bytes.count : nil
  }
}

extension URLReference {
  /// The absolute URL that `reference`, the value of a header field, means in a message from `base`, without fragment or
  /// credentials; `nil` if it is not a URL.
  ///
  /// - Parameter keepingDots: whether dot segments of its own path stay. Those of a relative path are resolved anyway.
  package static func resolve(_ reference: String, against base: String, keepingDots: Bool = false) -> String? {
    guard let base = URLReference(base), let url = URLReference(field: reference) else { return nil }
    return url.resolved(against: base).absolute(keepingDots: keepingDots)
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

extension HTTP.Request {
  /// The URL `text` as requests have it: scheme and host in their normal form, without default port, credentials and
  /// fragment, and without dot segments unless they are kept.
  ///
  /// - Throws: `CacheError` with the code `invalidRequest` if `text` is not the URL of a web server, `originUnavailable`
  ///   if its host is not ASCII and libidn2 is missing.
  public static func normalizedURL(_ text: String, keepingDots: Bool = false) throws(CacheError) -> String {
    if let url = URLReference(text)?.absolute(keepingDots: keepingDots),
      ["http://", "https://"].contains(where: url.hasPrefix)
    {
      return url
    }
    if let host = URLParts(text)?.host, !host.utf8.allSatisfy({ $0 < 0x80 }), let problem = ServerName.missingLibrary {
      throw CacheError(
        .originUnavailable, "the name of the server is not ASCII, and \(problem)",
        hint: problem.hint)
    }
    // Do not repeat the text: it might contain a password.
    throw CacheError(
      .invalidRequest, "that is not a URL of a web server", hint: "write it as https://example.com/path")
  }

  /// This request with its URL in the form of `normalizedURL`, if that is possible without losing credentials.
  package var normalized: HTTP.Request {
    guard let reference = URLReference(url), reference.userInfo == nil,
      let text = reference.absolute(keepingDots: keepsDotSegments)
    else { return self }
    var request = self
    request.url = text
    return request
  }

  /// Whether `text` and `other`, URLs in the form of `normalizedURL`, name the same resource.
  package static func isSameURL(_ text: String, _ other: String) -> Bool {
    PercentEncoding.normalized(text) == PercentEncoding.normalized(other)
  }
}

/// The target of a request whose field Host names another server than its URL (RFC 9110, section 7.1).
extension HTTP.Request {
  /// The URL of the resource: `url`, with the host of the field Host if there is one. The request still goes to the
  /// server of `url`.
  package var target: String {
    guard let servers = differentServers else { return url }
    return servers.named + Self.path(of: url)
  }

  /// The server that the request goes to, such as http://127.0.0.1:8080, if it is not the one that Host names;
  /// otherwise `nil`.
  package var detour: String? { differentServers?.asked }

  /// The URL by which to request `target`, a resource of the same origin as this request's, from the same server.
  package func address(of target: String) -> String {
    detour.map { $0 + Self.path(of: target) } ?? target
  }

  private var differentServers: (asked: String, named: String)? {
    guard fields.contains("host"), hasValidHost, let host = fields["host"], let reference = URLReference(url),
      let scheme = reference.scheme, let asked = reference.server,
      let named = URLReference("\(scheme)://\(host)")?.server, named != asked
    else { return nil }
    return (asked, named)
  }

  /// The path and the query of the absolute URL `url`, as they are written.
  private static func path(of url: String) -> String {
    guard let parts = URLParts(url) else { return "/" }
    return (parts.path.isEmpty ? "/" : String(parts.path)) + (parts.query.map { "?\($0)" } ?? "")
  }
}
