internal import Base

/// What a server is asked.
public struct HTTPRequest: Sendable, Hashable {
  /// The method, such as GET; methods are case-sensitive.
  public var method: String
  /// The absolute URL, without a fragment and without credentials.
  public var url: String
  /// The header fields.
  public var fields: HTTPFields
  /// The content; empty where there is none.
  public var body: [UInt8]
  /// The content in place of `body` where it is not held in memory. It can be sent once.
  public var stream: StreamedContent?
  /// A digest of the certificate by which the server may know the client; `nil` where the client shows none. It is never
  /// sent: it stands for the certificate where requests are compared, as the field `Authorization` stands for itself.
  public var clientIdentity: String?

  /// A request with the given parts.
  public init(
    method: String = "GET", url: String, fields: HTTPFields = [:], body: [UInt8] = [], stream: StreamedContent? = nil,
    clientIdentity: String? = nil
  ) {
    self.method = method
    self.url = url
    self.fields = fields
    self.body = body
    self.stream = stream
    self.clientIdentity = clientIdentity
  }
}

extension HTTPRequest {
  /// Whether the server has to prove who it is.
  public var isSecure: Bool { url.lowercased().hasPrefix("https://") }

  /// `clientIdentity` where the connection can show it.
  public var shownIdentity: String? { isSecure ? clientIdentity : nil }

  /// Whether it says who the client is.
  public var hasCredentials: Bool { fields.contains("authorization") || shownIdentity != nil }

  /// The host of the URL and the port where it has one, without the credentials that may stand before them; `nil` where
  /// the URL names no server.
  public var authority: String? { URLParts(url)?.authority }
}

/// A final answer of a server.
public struct HTTPResponse: Sendable, Hashable {
  /// The status and header fields.
  public var head: HTTPResponseHead
  /// The content as it was received, after the coding of the transfer was undone.
  public var body: [UInt8]
  /// The content that follows `body`, where there is more of it than is held in memory; `nil` where `body` is all.
  public var rest: StreamedContent?
  /// The heads of the interim responses (1xx) that came before it, in order. A cache does not keep them.
  public var interim: [HTTPResponseHead] = []
  /// The fields after the content; those after a `rest` are in its `trailers`. A cache does not keep them.
  public var trailers: HTTPFields = [:]

  /// A response with the given parts.
  public init(_ head: HTTPResponseHead, body: [UInt8] = [], rest: StreamedContent? = nil) {
    self.head = head
    self.body = body
    self.rest = rest
  }
}

/// The status line and the header fields of a response.
public struct HTTPResponseHead: Sendable, Hashable {
  /// The version of the protocol; `nil` in a response that no server sent.
  public var version: HTTPVersion?
  /// The status, from 100 to 999: those from 600 on mean nothing, and servers send them now and then.
  public var status: Int
  /// The words after the status, as they came; `nil` where there are none, as always with HTTP/2.
  public var reason: String?
  /// The header fields.
  public var fields: HTTPFields

  /// A head with the given parts.
  public init(version: HTTPVersion? = nil, status: Int, reason: String? = nil, fields: HTTPFields = [:]) {
    self.version = version
    self.status = status
    self.reason = reason
    self.fields = fields
  }
}

/// The version of HTTP in which a response came, named as in its status line.
public enum HTTPVersion: String, Sendable, Hashable, CaseIterable {
  case http10 = "HTTP/1.0"
  case http11 = "HTTP/1.1"
  case http2 = "HTTP/2"
  case http3 = "HTTP/3"
}
