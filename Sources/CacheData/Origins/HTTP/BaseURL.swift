public import CacheDomain

/// The address of a server, with which the addresses of its resources begin. It contains no credentials.
public struct BaseURL: Sendable, Hashable, CustomStringConvertible {
  private let scheme: String
  /// The host in lower case, with its port if that is not the scheme's default.
  private let authority: String
  private let path: String

  /// Parses `text`: `http` or `https`, a host, and optionally a port and a path.
  ///
  /// - Throws: `CacheError` with the code `invalidRequest` if `text` is anything else, or has a user, a query or a
  ///   fragment.
  public init(_ text: String) throws(CacheError) {
    guard let scheme = ["https", "http"].first(where: { text.lowercased().hasPrefix("\($0)://") }),
      text.utf8.allSatisfy({ (0x21..<0x7F).contains($0) }), !text.contains(where: { "@?#\"<>\\".contains($0) })
    else { throw Self.malformed }
    let rest = text.dropFirst("\(scheme)://".count)
    let authority = rest.prefix { $0 != "/" }.lowercased()
    guard let first = authority.first, first != ":" else { throw Self.malformed }
    self.scheme = scheme
    self.authority = Self.withoutDefaultPort(authority, scheme)
    path = String(rest.dropFirst(authority.count))
  }

  /// The address as a person writes it.
  public var description: String { "\(scheme)://\(authority)\(path.isEmpty ? "/" : path)" }

  /// The address of the resource at `relativePath`, which is percent-encoded and begins with a slash; this address
  /// itself if it is empty. A slash at the end of this address makes no difference.
  func url(of relativePath: String) -> String {
    guard !relativePath.isEmpty else { return description }
    return "\(scheme)://\(authority)\(pathWithoutSlash)\(relativePath)"
  }

  /// The name of an origin of the kind `kind` at this address. For the well-known address `known` it is just the kind;
  /// any other address becomes part of the name, so that two servers never share cache entries.
  func originName(_ kind: String, known: String? = nil) -> String {
    let isKnown = known.map { label == (try? BaseURL($0))?.label } ?? false
    return isKnown ? kind : "\(kind)@\(label)"
  }

  /// Host, port and path. Two schemes cannot share a port, so the port also identifies the scheme.
  private var label: String {
    let isPlainHTTP = scheme == "http" && Self.port(authority) == nil
    return "\(authority)\(isPlainHTTP ? ":80" : "")\(path == "/" ? "" : path)"
  }

  private var pathWithoutSlash: Substring {
    var path = path[...]
    while path.last == "/" { path.removeLast() }
    return path
  }

  private static func withoutDefaultPort(_ authority: String, _ scheme: String) -> String {
    guard let port = port(authority), port.isEmpty || port == (scheme == "https" ? "443" : "80") else {
      return authority
    }
    return String(authority.dropLast(port.count + 1))
  }

  /// The digits after the last colon outside the brackets of an IPv6 address.
  private static func port(_ authority: String) -> Substring? {
    let tail = authority[(authority.lastIndex(of: "]") ?? authority.startIndex)...]
    return tail.lastIndex(of: ":").map { tail[tail.index(after: $0)...] }
  }

  private static var malformed: CacheError {
    CacheError(
      .invalidRequest, "the base URL of an origin is not an address of a server",
      hint: "give an address that begins with https:// or http://, without user, query and fragment")
  }
}
