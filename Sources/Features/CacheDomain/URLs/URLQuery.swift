public import HTTPMessages

/// A request for a URL, as a person writes it.
public struct URLQuery: Sendable, Hashable {
  /// An absolute http or https URL.
  public let url: String
  /// The method, such as GET.
  public let method: String
  /// The header fields, in order.
  public var fields: HTTPFields
  /// The content; empty if there is none.
  public let body: [UInt8]
  /// The content, instead of `body`, if it is not held in memory. It can be sent only once.
  public let stream: StreamedContent?
  /// How many redirects to follow, 0 or more; with 0, a redirect is an answer like any other.
  public let maxRedirects: Int
  /// The names of the fields whose values are secrets, besides `Authorization`, `Cookie` and `Proxy-Authorization`: they
  /// are not sent to another server, and select a stored response.
  public var secretFields: Set<String>
  /// The names, in lower case, of the fields that are not to be added by default.
  public var unwantedFields: Set<String>
  /// Whether "." and ".." in the path of the URL are sent unchanged.
  public let keepsDotSegments: Bool

  /// How many redirects a query follows by default.
  public static let usualRedirects = 5

  /// Creates a request, by default a GET without content.
  public init(
    url: String, method: String = "GET", fields: HTTPFields = [:], body: [UInt8] = [], stream: StreamedContent? = nil,
    maxRedirects: Int = usualRedirects, keepsDotSegments: Bool = false, secretFields: Set<String> = [],
    unwantedFields: Set<String> = []
  ) {
    self.url = url
    self.method = method
    self.fields = fields
    self.body = body
    self.stream = stream
    self.maxRedirects = maxRedirects
    self.secretFields = secretFields
    self.unwantedFields = unwantedFields
    self.keepsDotSegments = keepsDotSegments
  }
}

/// The answer to a request for a URL, whatever its status.
public struct URLAnswer: Sendable, Hashable {
  /// The URL that answered: the request's own, or the one to which it was redirected.
  public let url: String
  /// The protocol version as a status line spells it, such as HTTP/1.1; `nil` if no server gave one.
  public let version: String?
  /// The status, from 100 to 599.
  public let status: Int
  /// The words after the status, as they arrived; `nil` if there are none, as always with HTTP/2.
  public let reason: String?
  /// The header fields as they arrived, with `Age` and `Cache-Status` (RFC 9211) added.
  public let fields: HTTPFields
  /// The content, or its beginning if `rest` follows.
  public let body: [UInt8]
  /// The content after `body`, if there is more than the cache keeps; `nil` if `body` is all of it.
  public let rest: StreamedContent?
  /// The interim answers (1xx) that came first, in order and without content; empty if the answer comes from the cache.
  public let interim: [URLAnswer]
  /// The fields after the content, if `body` is all of it; empty if the answer comes from the cache.
  public let trailers: HTTPFields

  /// Creates an answer.
  public init(
    url: String, version: String? = nil, status: Int, reason: String? = nil, fields: HTTPFields,
    body: [UInt8] = [], rest: StreamedContent? = nil, interim: [URLAnswer] = [], trailers: HTTPFields = [:]
  ) {
    self.url = url
    self.version = version
    self.status = status
    self.reason = reason
    self.fields = fields
    self.body = body
    self.rest = rest
    self.interim = interim
    self.trailers = trailers
  }
}
