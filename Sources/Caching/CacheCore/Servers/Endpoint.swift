internal import Base
public import FetchVocabulary

/// One resource of a server, and how to request it. It contains no credentials.
public struct Endpoint: Sendable, Hashable {
  /// A query parameter.
  public struct Parameter: Sendable, Hashable {
    /// The name, not encoded.
    public let name: String
    /// The value, not encoded.
    public let value: String

    /// Creates a parameter.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// A phrase for messages that names the resource, such as "page 3 of cities".
  public let subject: String
  /// The method.
  public let method: String
  /// The server.
  public let baseURL: BaseURL
  /// The path below `baseURL`, not encoded, beginning with a slash; empty for `baseURL` itself.
  public let path: String
  /// The parameters, in order.
  public let query: [Parameter]
  /// The header fields.
  public let fields: HTTPFields

  /// Creates an endpoint, by default a GET of `baseURL`.
  public init(
    _ subject: String, method: String = "GET", baseURL: BaseURL, path: String = "", query: [Parameter] = [],
    fields: HTTPFields = [:]
  ) {
    self.subject = subject
    self.method = method
    self.baseURL = baseURL
    self.path = path
    self.query = query
    self.fields = fields
  }

  /// The absolute URL, percent-encoded.
  public var url: String {
    let address = baseURL.url(of: PercentEncoding.path(path))
    return query.isEmpty ? address : "\(address)?\(Self.text(of: query))"
  }

  /// The request for this resource.
  public var httpRequest: HTTPRequest { HTTPRequest(method: method, url: url, fields: fields) }

  /// `query` as it is written after the question mark.
  static func text(of query: [Parameter]) -> String {
    query.map { "\(PercentEncoding.text($0.name))=\(PercentEncoding.text($0.value))" }.joined(separator: "&")
  }
}

/// The address of a server, with which the addresses of its resources begin. It contains no credentials.
public struct BaseURL: Sendable, Hashable, CustomStringConvertible {
  private let scheme: String
  /// The host in its normal form.
  private let host: String
  /// The port; `nil` if it is the scheme's default.
  private let port: Int?
  private let path: String

  /// Parses `text`: `http` or `https`, a host, and optionally a port and a path.
  ///
  /// - Throws: `CacheError` with the code `invalidRequest` if `text` is anything else, or has a user, a query or a
  ///   fragment.
  public init(_ text: String) throws(CacheError) {
    guard text.utf8.allSatisfy({ $0 > 0x20 && !"@?#\"<>\\".utf8.contains($0) }), let url = URLReference(text),
      let scheme = url.scheme, ["https", "http"].contains(scheme), let host = url.host, !host.isEmpty
    else { throw Self.malformed }
    (self.scheme, self.host, port) = (scheme, host, url.port)
    path = URLReference.withoutDots(url.path)
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
  public func originName(_ kind: String, known: String? = nil) -> String {
    let isKnown = known.map { label == (try? BaseURL($0))?.label } ?? false
    return isKnown ? kind : "\(kind)@\(label)"
  }

  private var authority: String { port.map { "\(host):\($0)" } ?? host }

  /// Host, port and path. Two schemes cannot share a port, so the port also identifies the scheme.
  private var label: String {
    let isPlainHTTP = scheme == "http" && port == nil
    return "\(authority)\(isPlainHTTP ? ":80" : "")\(path == "/" ? "" : PercentEncoding.normalized(path))"
  }

  private var pathWithoutSlash: Substring {
    var path = path[...]
    while path.last == "/" { path.removeLast() }
    return path
  }

  private static var malformed: CacheError {
    CacheError(
      .invalidRequest, "the base URL of an origin is not an address of a server",
      hint: "give an address that begins with https:// or http://, without user, query and fragment")
  }
}
