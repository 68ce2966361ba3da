internal import Base

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
