/// The parts of a URL reference (RFC 3986, section 4.1), without the fragment. Characters that a part must not contain
/// are percent-encoded.
struct URLReference: Sendable, Hashable {
  /// The scheme in lower case; `nil` in a relative reference.
  private(set) var scheme: String?
  /// The credentials before an `@`, as written; `nil` if there are none.
  private(set) var userInfo: Substring?
  /// The host in lower case, with an IPv6 address in brackets; `nil` if the reference names no server.
  private(set) var host: String?
  private var explicitPort: Int?
  private(set) var path = ""
  private(set) var query: String?

  /// Parses `text`; `nil` if it is not a URL reference.
  ///
  /// Works on bytes, because a combining mark after a slash would merge with it into another character.
  init?(_ text: String) {
    var rest = text.utf8.prefix { $0 != UInt8(ascii: "#") }
    if let mark = rest.firstIndex(of: UInt8(ascii: "?")) {
      query = PercentEncoding.completed(rest[mark...].dropFirst(), isQuery: true)
      rest = rest[..<mark]
    }
    if let colon = rest.firstIndex(where: { ":/".utf8.contains($0) }), rest[colon] == UInt8(ascii: ":") {
      guard Self.isScheme(rest[..<colon]) else { return nil }
      scheme = String(Substring(rest[..<colon])).lowercased()
      rest = rest[colon...].dropFirst()
    }
    if rest.starts(with: "//".utf8) {
      let authority = rest.dropFirst(2).prefix { $0 != UInt8(ascii: "/") }
      rest = rest[authority.endIndex...]
      guard readAuthority(authority) else { return nil }
    }
    path = PercentEncoding.completed(rest, isQuery: false)
  }

  private mutating func readAuthority(_ text: Substring.UTF8View) -> Bool {
    var rest = text
    if let mark = rest.lastIndex(of: UInt8(ascii: "@")) {
      userInfo = Substring(rest[..<mark])
      rest = rest[mark...].dropFirst()
    }
    let isAddress = rest.first == UInt8(ascii: "[")
    let end =
      isAddress
      ? rest.firstIndex(of: UInt8(ascii: "]")).map { rest.index(after: $0) } : rest.lastIndex(of: UInt8(ascii: ":"))
    let name = rest[..<(end ?? rest.endIndex)]
    let tail = rest[name.endIndex...]
    guard Self.isHost(name), tail.isEmpty || tail.first == UInt8(ascii: ":") else { return false }
    host = (isAddress ? String(Substring(name)) : PercentEncoding.completed(name, isQuery: false)).lowercased()
    guard tail.count > 1 else { return true }
    guard let number = Digits.number(Substring(tail.dropFirst())), number <= UInt16.max else { return false }
    explicitPort = number
    return true
  }

  private static func isScheme(_ text: Substring.UTF8View) -> Bool {
    guard let first = text.first, first.isASCIILetter else { return false }
    return text.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || "+-.".utf8.contains($0) }
  }

  /// Whether `text` can be a host. Non-ASCII characters, which are percent-encoded, are not checked.
  private static func isHost(_ text: Substring.UTF8View) -> Bool {
    if text.first == UInt8(ascii: "[") {
      return text.last == UInt8(ascii: "]") && text.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"/\\@".utf8.contains($0) }
    }
    return text.allSatisfy {
      $0 >= 0x80 || PercentEncoding.unreserved.contains($0) || "%!$&'()*+,;=".utf8.contains($0)
    }
  }

  /// The port; `nil` if there is none, or it is the scheme's default.
  var port: Int? { explicitPort == (scheme == "https" ? 443 : 80) ? nil : explicitPort }

  /// Scheme, host and port; `nil` if the URL names no server.
  var server: String? {
    guard let scheme, let host, !host.isEmpty else { return nil }
    return "\(scheme)://\(host)\(port.map { ":\($0)" } ?? "")"
  }

  /// The URL up to its query; `nil` if it names no server.
  var withoutQuery: String? { server.map { $0 + (path.isEmpty ? "/" : path) } }

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
  static func resolve(_ reference: String, against base: String) -> String? {
    guard let original = URLReference(base), let url = URLReference(reference.isEmpty ? base : reference) else {
      return nil
    }
    let resolved = url.resolved(against: original)
    return resolved.withoutQuery.map { $0 + (resolved.query.map { "?\($0)" } ?? "") }
  }

  /// Whether `new` is an https URL on the host of the http URL `old`.
  static func isUpgrade(from old: String, to new: String) -> Bool {
    guard let old = URLReference(old), let new = URLReference(new) else { return false }
    return old.scheme == "http" && new.scheme == "https" && old.host == new.host
  }

  /// Whether two absolute URLs have the same scheme, host and port.
  static func isSameOrigin(_ left: String, _ right: String) -> Bool {
    guard let left = URLReference(left)?.server, let right = URLReference(right)?.server else { return false }
    return left == right
  }

  /// The host of an absolute URL, with its port if that is not the default; `nil` if there is no host.
  static func host(of url: String) -> String? {
    guard let url = URLReference(url), let host = url.host else { return nil }
    return url.port.map { "\(host):\($0)" } ?? host
  }
}

extension UInt8 {
  fileprivate var isASCIILetter: Bool { (0x61...0x7A).contains(self | 0x20) }
  fileprivate var isASCIIDigit: Bool { (0x30...0x39).contains(self) }
}
