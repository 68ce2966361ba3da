/// A request for any URL, as a person writes it down.
public struct URLQuery: Sendable, Hashable {
  /// A line of a header.
  public struct Field: Sendable, Hashable {
    /// The name, as it was written.
    public let name: String
    /// The value.
    public let value: String

    /// A field with the given parts.
    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The URL: absolute, http or https.
  public let url: String
  /// The method, such as GET.
  public let method: String
  /// The header fields, in order.
  public var fields: [Field]
  /// The content; empty where there is none.
  public let body: [UInt8]
  /// The content in place of `body` where it is not held in memory. It can be sent once.
  public let stream: ContentStream?
  /// How many redirections are followed, 0 or more; with 0 a redirection is an answer like any other.
  public let maxRedirects: Int

  /// How many redirections are followed where a query does not say.
  public static let usualRedirects = 5

  /// A request with the given parts.
  public init(
    url: String, method: String = "GET", fields: [Field] = [], body: [UInt8] = [], stream: ContentStream? = nil,
    maxRedirects: Int = usualRedirects
  ) {
    self.url = url
    self.method = method
    self.fields = fields
    self.body = body
    self.stream = stream
    self.maxRedirects = maxRedirects
  }
}

/// What was answered to a request for a URL, whatever its status.
public struct URLAnswer: Sendable, Hashable {
  /// The URL that answered: that of the request, or the one to which it was redirected.
  public let url: String
  /// The version of the protocol as a status line writes it, such as HTTP/1.1; `nil` where no server said it.
  public let version: String?
  /// The status, from 100 to 599.
  public let status: Int
  /// The words after the status, as they came; `nil` where there are none, as always with HTTP/2.
  public let reason: String?
  /// The header fields as they were received, `Age` and `Cache-Status` (RFC 9211) added.
  public let fields: [URLQuery.Field]
  /// The content, or its beginning where `rest` follows.
  public let body: [UInt8]
  /// The content that follows `body`, where there is more than the cache keeps; `nil` where `body` is all.
  public let rest: ContentStream?
  /// The interim answers (1xx) that came before it, in order and without content; none where it comes from the cache.
  public let interim: [URLAnswer]
  /// The fields after the content, where `body` is all of it; none where it comes from the cache.
  public let trailers: [URLQuery.Field]

  /// An answer with the given parts.
  public init(
    url: String, version: String? = nil, status: Int, reason: String? = nil, fields: [URLQuery.Field],
    body: [UInt8] = [], rest: ContentStream? = nil, interim: [URLAnswer] = [], trailers: [URLQuery.Field] = []
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
