/// A reference to a URL (RFC 3986, section 4.1) in its parts, without a fragment. What may not stand in a part is
/// percent-encoded.
struct URLReference: Sendable, Hashable {
  /// In lower case; `nil` in a relative reference.
  private(set) var scheme: String?
  /// What stands before an `@`, as it is written; `nil` where nothing does.
  private(set) var userInfo: Substring?
  /// In lower case, an address of IPv6 in brackets; `nil` where the reference names no server.
  private(set) var host: String?
  private var digitsOfPort = ""
  private(set) var path = ""
  private(set) var query: String?

  /// The reference written as `text`; `nil` where it is none.
  init?(_ text: String) {
    var rest = text.prefix { $0 != "#" }
    if let mark = rest.firstIndex(of: "?") {
      query = PercentEncoding.completed(rest[rest.index(after: mark)...], isQuery: true)
      rest = rest[..<mark]
    }
    if let colon = rest.firstIndex(where: { ":/".contains($0) }), rest[colon] == ":" {
      guard Self.isScheme(rest[..<colon]) else { return nil }
      scheme = rest[..<colon].lowercased()
      rest = rest[rest.index(after: colon)...]
    }
    if rest.hasPrefix("//") {
      let authority = rest.dropFirst(2).prefix { $0 != "/" }
      rest = rest[authority.endIndex...]
      guard readAuthority(authority) else { return nil }
    }
    path = PercentEncoding.completed(rest, isQuery: false)
  }

  private mutating func readAuthority(_ text: Substring) -> Bool {
    var rest = text
    if let mark = rest.lastIndex(of: "@") {
      userInfo = rest[..<mark]
      rest = rest[rest.index(after: mark)...]
    }
    let end = rest.hasPrefix("[") ? rest.firstIndex(of: "]").map { rest.index(after: $0) } : rest.lastIndex(of: ":")
    let name = rest[..<(end ?? rest.endIndex)]
    let tail = rest[name.endIndex...]
    guard Self.isHost(name), tail.isEmpty || tail.hasPrefix(":"), tail.dropFirst().allSatisfy(\.isASCIIDigit) else {
      return false
    }
    host = (name.hasPrefix("[") ? String(name) : PercentEncoding.completed(name, isQuery: false)).lowercased()
    digitsOfPort = String(tail.dropFirst())
    return true
  }

  private static func isScheme(_ text: Substring) -> Bool {
    guard let first = text.utf8.first, first.isASCIILetter else { return false }
    return text.utf8.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || "+-.".utf8.contains($0) }
  }

  /// Of other characters than ASCII, which are encoded, nothing is known here.
  private static func isHost(_ text: Substring) -> Bool {
    if text.hasPrefix("[") {
      return text.hasSuffix("]") && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"/\\@".utf8.contains($0) }
    }
    return text.utf8.allSatisfy {
      $0 >= 0x80 || PercentEncoding.unreserved.contains($0) || "%!$&'()*+,;=".utf8.contains($0)
    }
  }

  /// The port in digits; `nil` where there is none, or it is that of the scheme.
  var port: String? {
    digitsOfPort.isEmpty || digitsOfPort == (scheme == "https" ? "443" : "80") ? nil : digitsOfPort
  }

  /// Scheme, host and port; `nil` where it is not the URL of a server.
  var server: String? {
    guard let scheme, let host, !host.isEmpty else { return nil }
    return "\(scheme)://\(host)\(port.map { ":\($0)" } ?? "")"
  }

  /// The URL up to its query; `nil` where it is not that of a server.
  var withoutQuery: String? { server.map { $0 + (path.isEmpty ? "/" : path) } }

  /// The URL that this means in a message about `base` (RFC 3986, section 5.2.2).
  private func resolved(against base: URLReference) -> URLReference {
    if scheme != nil { return self }
    var url = base
    if host != nil {
      url = self
      url.scheme = base.scheme
    } else if path.isEmpty {
      url.query = query ?? base.query
    } else {
      url.query = query
      let folder = base.path.lastIndex(of: "/").map { base.path[...$0] } ?? "/"
      url.path = Self.withoutDots(path.hasPrefix("/") ? path : folder + path)
    }
    return url
  }

  /// `path`, which begins with a slash, without the segments "." and ".." (section 5.2.4).
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
  /// The absolute URL, without a fragment and without credentials, that `reference` means in a message about `base`;
  /// `nil` where it is none. Scheme and host are in lower case, and a port that goes without saying is left out.
  static func resolve(_ reference: String, against base: String) -> String? {
    guard let original = URLReference(base), let url = URLReference(reference.isEmpty ? base : reference) else {
      return nil
    }
    let resolved = url.resolved(against: original)
    return resolved.withoutQuery.map { $0 + (resolved.query.map { "?\($0)" } ?? "") }
  }

  /// Whether the scheme of an absolute URL is https.
  static func isSecure(_ url: String) -> Bool { url.lowercased().hasPrefix("https://") }

  /// Whether two absolute URLs have the same scheme, host and port.
  static func isSameOrigin(_ left: String, _ right: String) -> Bool {
    guard let left = URLReference(left)?.server, let right = URLReference(right)?.server else { return false }
    return left == right
  }

  /// The host and, where it is given, the port of an absolute URL; `nil` where there is none.
  static func host(of url: String) -> String? {
    guard let url = URLReference(url), let host = url.host else { return nil }
    return url.port.map { "\(host):\($0)" } ?? host
  }
}

extension Character {
  fileprivate var isASCIIDigit: Bool { ("0"..."9").contains(self) }
}

extension UInt8 {
  fileprivate var isASCIILetter: Bool { (0x61...0x7A).contains(self | 0x20) }
  fileprivate var isASCIIDigit: Bool { (0x30...0x39).contains(self) }
}
