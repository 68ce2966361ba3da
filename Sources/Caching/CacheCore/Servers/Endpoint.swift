internal import CacheBase
public import FetchVocabulary

/// The request for one resource of a server, without credentials.
public struct Endpoint: Sendable, Hashable {
  /// A phrase for messages that names the resource, such as "page 3 of cities".
  public let subject: String
  /// The request.
  public let request: HTTPRequest

  /// Creates an endpoint, by default a GET of `baseURL`.
  ///
  /// - Parameters:
  ///   - path: the path below `baseURL`, not encoded, beginning with a slash; empty for `baseURL` itself.
  ///   - query: the parameters, not encoded, in order.
  public init(
    _ subject: String, method: String = "GET", baseURL: BaseURL, path: String = "",
    query: KeyValuePairs<String, String> = [:], fields: HTTPFields = [:]
  ) {
    self.subject = subject
    let url = baseURL.url(of: PercentEncoding.path(path))
    request = HTTPRequest(method: method, url: Self.url(url, adding: query.map { ($0, $1) }), fields: fields)
  }

  /// `url` with further query parameters, which are not encoded.
  static func url(_ url: String, adding parameters: [(name: String, value: String)]) -> String {
    if parameters.isEmpty { return url }
    let query = parameters.map { "\(PercentEncoding.text($0.name))=\(PercentEncoding.text($0.value))" }
    return url + (url.contains("?") ? "&" : "?") + query.joined(separator: "&")
  }
}

/// The address of a server, with which the addresses of its resources begin. It contains no credentials.
public struct BaseURL: Sendable, Hashable, CustomStringConvertible {
  private let scheme: String
  /// The host in its normal form, and the port unless it is the scheme's default.
  private let authority: String
  private let hasPort: Bool
  private let path: String

  /// Parses `text`: `http` or `https`, a host, and optionally a port and a path.
  ///
  /// - Throws: `CacheError` with the code `invalidRequest` if `text` is anything else, or has a user, a query or a
  ///   fragment.
  public init(_ text: String) throws(CacheError) {
    guard text.utf8.allSatisfy({ $0 > 0x20 && !"@?#\"<>\\".utf8.contains($0) }), let url = URLReference(text),
      let scheme = url.scheme, ["https", "http"].contains(scheme), let host = url.host, !host.isEmpty
    else {
      throw CacheError(
        .invalidRequest, "the base URL of an origin is not an address of a server",
        hint: "give an address that begins with https:// or http://, without user, query and fragment")
    }
    self.scheme = scheme
    authority = host + (url.port.map { ":\($0)" } ?? "")
    hasPort = url.port != nil
    path = URLReference.withoutDots(url.path)
  }

  /// The address as a person writes it.
  public var description: String { "\(scheme)://\(authority)\(path.isEmpty ? "/" : path)" }

  /// The address of the resource at `relativePath`, which is percent-encoded and begins with a slash; this address
  /// itself if it is empty. A slash at the end of this address makes no difference.
  func url(of relativePath: String) -> String {
    guard !relativePath.isEmpty else { return description }
    var folder = path[...]
    while folder.last == "/" { folder.removeLast() }
    return "\(scheme)://\(authority)\(folder)\(relativePath)"
  }

  /// The name of an origin of the kind `kind` at this address. For the well-known address `known` it is just the kind;
  /// any other address becomes part of the name, so that two servers never share cache entries.
  public func originName(_ kind: String, known: String? = nil) -> String {
    let isKnown = known.map { label == (try? BaseURL($0))?.label } ?? false
    return isKnown ? kind : "\(kind)@\(label)"
  }

  /// Host, port and path. Two schemes cannot share a port, so the port also identifies the scheme.
  private var label: String {
    let isPlainHTTP = scheme == "http" && !hasPort
    return "\(authority)\(isPlainHTTP ? ":80" : "")\(path == "/" ? "" : PercentEncoding.normalized(path))"
  }
}
