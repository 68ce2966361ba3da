internal import Base

/// What a request is for, if its field Host names another server than its URL (RFC 9110, section 7.1).
extension HTTPRequest {
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
